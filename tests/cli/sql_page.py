#!/usr/bin/env python3
"""The questions of docs/sql.md and their answers: sql_page.py [--write] JTRACE DOCUMENT PAGE

DOCUMENT, the trace of a program whose sales are known (tests/apps/Till.java), is made a database; each block of the page that
begins with ```sql is run, and must give exactly the block after it. The CSV files must have what the views have. --write puts
the answers into the page.
"""
import csv
import pathlib
import re
import sqlite3
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"```sql\n(.*?)```\n\n```\n(.*?)```\n", re.S)
LEAST_QUESTIONS = 10


def cell(value):
    return "" if value is None else f"{value:.3f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


def answer(database, question):
    """The rows as columns, numbers on the right."""
    cursor = database.execute(question)
    rows = cursor.fetchall()
    if not rows:
        sys.exit(f"no rows:\n{question}")
    names = [column[0] for column in cursor.description]
    table = [names, *[[cell(value) for value in row] for row in rows]]
    widths = [max(len(line[i]) for line in table) for i in range(len(names))]
    right = [all(isinstance(row[i], (int, float)) or row[i] is None for row in rows) for i in range(len(names))]
    lines = ["  ".join(line[i].rjust(widths[i]) if right[i] else line[i].ljust(widths[i]) for i in range(len(names))).rstrip()
             for line in table]
    return "\n".join(lines) + "\n"


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
    with tempfile.TemporaryDirectory(prefix="jtrace-sql") as folder:
        folder = pathlib.Path(folder)
        subprocess.run([jtrace, "-q", "convert", document, "-o", folder / "till.sqlite"], check=True)
        subprocess.run([jtrace, "-q", "convert", document, "--to", "csv", "-o", folder / "csv"], check=True)
        database = sqlite3.connect(folder / "till.sqlite")
        check_csv(database, folder / "csv")
        asked = 0
        faults = []

        def renew(match):
            nonlocal asked
            asked += 1
            got = answer(database, match[1])
            if got != match[2]:
                faults.append(f"{match[1]}gives\n{got}and not\n{match[2]}")
            return f"```sql\n{match[1]}```\n\n```\n{got}```\n"

        renewed = BLOCK.sub(renew, text)
        for view in database.execute("SELECT name FROM sqlite_master WHERE type = 'view'"):
            if f"| `{view[0]}` |" not in text:
                faults.append(f"the page has no row for the view {view[0]}")
        database.close()
    if asked < LEAST_QUESTIONS or asked != text.count("```sql"):
        sys.exit(f"{asked} questions with an answer, {text.count('```sql')} blocks of SQL")
    if write:
        pathlib.Path(page).write_text(renewed)
    elif faults:
        sys.exit("\n".join(faults) + "sql_page.py --write renews the answers")


if __name__ == "__main__":
    main()
