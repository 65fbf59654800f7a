#!/usr/bin/env python3
"""The questions of docs/sql.md and their answers: sql_page.py [--write] JTRACE DOCUMENT PAGE

DOCUMENT is the trace of a program whose sales are known (tests/apps/Till.java). Each question of the page has a title, a command, SQL
and an answer: the title and the SQL must be those of the program, and the command must give exactly the answer, from the document and
from the database that is made of it. The CSV files must have what the views have. --write puts SQL and answers into the page.
"""
import csv
import json
import pathlib
import re
import shlex
import sqlite3
import subprocess
import sys
import tempfile

QUESTION = re.compile(r"### (\d+)\. ([^\n]*)\n\n    (jtrace sql till.xml [^\n]*)\n\n```sql\n(.*?)```\n\n```\n(.*?)```\n", re.S)


def ask(jtrace, command, file):
    words = [str(file) if word == "till.xml" else word for word in shlex.split(command)[1:]]
    return subprocess.run([jtrace, *words], check=True, capture_output=True, text=True, stdin=subprocess.DEVNULL).stdout


def check_csv(database, folder):
    files = sorted(path.stem for path in folder.iterdir())
    views = sorted(name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'view'"))
    if files != views:
        sys.exit(f"files {files}, views {views}")
    for view in views:
        cursor = database.execute(f"SELECT * FROM {view}")
        names = [column[0] for column in cursor.description]
        count = len(cursor.fetchall())
        with open(folder / f"{view}.csv", newline="") as file:
            rows = list(csv.reader(file))
        if rows[0] != names or len(rows) - 1 != count:
            sys.exit(f"{view}.csv has {len(rows) - 1} rows of {rows[0]}, the view {count} of {names}")


def main():
    write = sys.argv[1] == "--write"
    jtrace, document, page = sys.argv[1 + write:]
    text = pathlib.Path(page).read_text()
    faults = []
    known = json.loads(ask(jtrace, "jtrace sql till.xml --format json", document))["questions"]
    with tempfile.TemporaryDirectory(prefix="jtrace-sql") as folder:
        folder = pathlib.Path(folder)
        made = folder / "till.sqlite"
        subprocess.run([jtrace, "-q", "convert", document, "-o", made], check=True)
        subprocess.run([jtrace, "-q", "convert", document, "--to", "csv", "-o", folder / "csv"], check=True)
        database = sqlite3.connect(made)
        check_csv(database, folder / "csv")
        for view in database.execute("SELECT name FROM sqlite_master WHERE type = 'view'"):
            if f"| `{view[0]}` |" not in text:
                faults.append(f"the page has no row for the view {view[0]}")
        database.close()
        asked = []

        def renew(match):
            number, title, command, sql, answer = match.groups()
            asked.append(int(number))
            question = known[int(number) - 1] if int(number) <= len(known) else {"question": "", "sql": ""}
            got = ask(jtrace, command, document)
            if title != question["question"] or f"--question {number}" not in command:
                faults.append(f"{number}. {title!r}: the program has {question['question']!r}, the page {command!r}")
            if sql != question["sql"] + ";\n":
                faults.append(f"{number}. the program asks\n{question['sql']};\nand not\n{sql}")
            if got != answer:
                faults.append(f"{number}. {command} gives\n{got}and not\n{answer}")
            if got != ask(jtrace, command, made):
                faults.append(f"{number}. the database gives another answer")
            return f"### {number}. {title}\n\n    {command}\n\n```sql\n{question['sql']};\n```\n\n```\n{got}```\n"

        renewed = QUESTION.sub(renew, text)
    if asked != [question["number"] for question in known] or len(asked) != text.count("```sql"):
        sys.exit(f"questions {asked} of the page with an answer, {len(known)} of the program, {text.count('```sql')} blocks of SQL")
    if write:
        pathlib.Path(page).write_text(renewed)
    elif faults:
        sys.exit("\n".join(faults) + "\nsql_page.py --write renews SQL and answers")


if __name__ == "__main__":
    main()
