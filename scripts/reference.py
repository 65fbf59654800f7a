#!/usr/bin/env python3
"""Writes docs/reference: a page for each command of a program, from the prose of packaging/man and the program's own tables of
options (scripts/man.py makes the man pages of the same).

    reference.py BIN/PROGRAM           writes the pages
    reference.py --check BIN/PROGRAM   the pages that are committed are those
"""
import pathlib
import re
import sys

import man

FOLDER = man.TREE / "docs/reference"


def cell(text):
    return text.replace("|", "\\|").replace("<", "\\<")


def linked(text):
    """jtrace-convert(1) as a link to its page."""
    return re.sub(r"\b(jtrace|hsperf)-([a-z]+)\(1\)", r"[`\1 \2`](\1-\2.md)", text)


def prose(lines):
    """Paragraphs as they are; indented lines as a block of code."""
    out, kept = [], False
    for line in [*lines, ""]:
        indented = line.startswith("    ")
        if indented != kept and (line.strip() or indented):
            if not kept and out and out[-1]:
                out.append("")
            out.append("```")
            if kept:
                out.append("")
            kept = indented
        if line.strip() or (out and out[-1]):
            out.append(line[4:] if indented else linked(line))
    if kept:
        while not out[-1]:
            out.pop()
        out.append("```")
    return "\n".join(out).strip()


def options(table):
    out = ["| option | what it does |", "|---|---|"]
    for names, kind, about in table["option"]:
        out.append(f"| `{label(names, kind)}` | {cell(about)} |")
    return "\n".join(out)


def label(names, kind):
    return cell(", ".join(names.split(",")) + (f" {man.value_of(kind)}" if kind else ""))


def word_options(table):
    out = ["| option | views | what it does |", "|---|---|---|"]
    for names, kind, about, words in table["word-option"]:
        out.append(f"| `{label(names, kind)}` | {man.words_of(words)} | {cell(about)} |")
    return "\n".join(out)


def page(name, command, commands, sections):
    table = commands[command]
    words = " ".join(word if need == "required" else f"[{word}]" for word, need, _ in table["positional"])
    usage = f"{name} {command} [OPTION...] {words}".rstrip() if command else f"{name} COMMAND [OPTION...] [WORD...]"
    parts = [f"# {name} {command}".rstrip(), cell(table["about"]), f"```\n{usage}\n```", prose(sections[0][1])]
    if not command:
        rows = [f"| [`{other}`]({name}-{other}.md) | {cell(commands[other]['about'])} |"
                for other in sorted(commands) if other]
        parts += ["## Commands", "\n".join(["| command | what it does |", "|---|---|", *rows])]
    if table["positional"]:
        rows = [f"| `{cell(word)}` | {cell(about)} |" for word, _, about in table["positional"]]
        parts += ["## Arguments", "\n".join(["| argument | what it is |", "|---|---|", *rows])]
    parts += ["## Options", options(table)]
    if table["word-option"]:
        parts += ["## Options of views", word_options(table)]
    if table["units"]:
        parts.append("  \n".join(line for (line,) in table["units"]))
    for heading, lines in sections[1:]:
        parts += ["## " + heading.capitalize(), prose(lines)]
    return "\n\n".join(parts) + "\n"


def pages(program):
    name = pathlib.Path(program).name
    commands, texts = man.tables(program), man.prose(name)
    return {f"{name}-{command}.md" if command else f"{name}.md": page(name, command, commands, texts[command])
            for command in commands}


def check(program):
    wanted = pages(program)
    name = pathlib.Path(program).name
    committed = {path.name: path.read_text() for path in FOLDER.glob(f"{name}*.md")
                 if re.fullmatch(f"{name}(-[a-z]+)?\\.md", path.name)}
    return sorted(page for page in set(wanted) | set(committed) if wanted.get(page) != committed.get(page))


def main(arguments):
    if len(arguments) == 2 and arguments[0] == "--check":
        stale = check(arguments[1])
        for page in stale:
            print(f"docs/reference/{page} is not what the program says: run scripts/reference.py {arguments[1]}")
        return 1 if stale else 0
    if len(arguments) != 1:
        sys.stderr.write(__doc__)
        return 2
    FOLDER.mkdir(parents=True, exist_ok=True)
    for page, text in pages(arguments[0]).items():
        (FOLDER / page).write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
