#!/usr/bin/env python3
"""What the pages name is there: files of the tree, links between pages, options of the programs; and the sections of pages that
comments and pages refer to.

    check_docs.py BIN    BIN holds jtrace and hsperf

Options are looked up in the programs' own tables: after `jtrace COMMAND` in that command's, elsewhere in those of all. A word that
is an option of another program is in OTHERS.
"""
import pathlib
import re
import sys

import man

TREE = man.TREE
PAGES = [TREE / "README.md", TREE / "CONTRIBUTING.md", *sorted((TREE / "docs").glob("*.md"))]
PROGRAMS = ("jtrace", "hsperf")
FOLDERS = {path.name for path in TREE.iterdir() if path.is_dir() and not path.name.startswith(".")} - {"build"}
# Options of scripts, build tools, container tools and the JDK's own tools.
OTHERS = set("""--all --build --cap-add --change --container --custom --gid --help --image --install --mount --name
 --output-on-failure --pid --prefix --preset --privileged --profile --read-only --rm --security-opt --self-test --shm-size --target
 --test-dir --tmpfs --user --userns --version --volume --no-install-recommends --section --cap-drop --ipc
 --now --enable-dtrace --gtest --arch --proxy-user""".split())


def options_of(folder):
    """(program, command) -> its long options."""
    found = {}
    for program in PROGRAMS:
        for command, table in man.tables(str(folder / program)).items():
            found[program, command] = {
                name for names, *_ in table["option"] + table["word-option"] for name in names.split(",")} | {"--help"}
    return found


def code_of(text):
    """The pieces of code of a page: blocks joined where a line continues, and what is between backticks."""
    blocks = re.findall(r"^(?: {4}|\t)(.*)$", text.replace("\\\n", " "), re.M)
    for fenced in re.findall(r"^```\w*\n(.*?)^```", text, re.S | re.M):
        blocks += fenced.replace("\\\n", " ").splitlines()
    return blocks + re.findall(r"`([^`\n]+)`", text)


def path_faults(page, text):
    for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text):
        if not (page.parent / link).exists():
            yield f"the link {link} leads nowhere"
    for word in re.findall(r"`([\w./*-]+)`", text):
        if word.split("/")[0] not in FOLDERS or "/" not in word or re.search(r"[A-Z]{3}", word.replace("CMake", "")):
            continue
        # A program by the name of its source.
        if not any(TREE.glob(word.rstrip("/"))) and not any(TREE.glob(word + ".*")):
            yield f"{word} is not in the tree"


def option_faults(text, options):
    everything = set().union(*options.values()) | OTHERS
    for piece in code_of(text):
        words = re.match(r"(?:\$ )?(?:sudo )?(jtrace|hsperf)(?: +([a-z]+))?\b(.*)", piece)
        program, command, rest = words.groups() if words else (None, None, piece)
        known = options.get((program, command))
        if command and known is None and piece.startswith("$ "):
            yield f"{program} has no command {command}: {piece}"
        # What comes after a pipe or a semicolon is another program's.
        own = re.split(r" [|;&] | \|\| ", rest)[0] if known else rest
        for option in re.findall(r"(?<![\w-])--[a-z][a-z0-9-]*", own):
            if option not in (known if known else everything) and option not in (OTHERS if not known else ()):
                yield f"{option} is no option of {program + ' ' + command if known else 'any command'}: {piece.strip()}"


def section_faults(text):
    """Of references like `docs/inspect.md, "Memory"`, also over the end of a line of comment."""
    flat = re.sub(r"\n\s*(?://|#)?\s*", " ", text).replace("`", "")
    for page, section in re.findall(r"\b([\w/-]+\.md)\)?, \"([^\"]+)\"", flat):
        file = TREE / "docs" / pathlib.Path(page).name
        if not file.exists():
            yield f"there is no page {page}"
        elif not re.search(rf"^#+ {re.escape(section)}$", file.read_text().replace("`", ""), re.M):
            yield f'{page} has no section "{section}"'


def sources():
    for folder in sorted(FOLDERS - {"docs"}):
        for path in sorted((TREE / folder).rglob("*")):
            if path.suffix in (".h", ".cpp", ".def", ".py"):
                yield path


def main(arguments):
    if len(arguments) != 1:
        sys.stderr.write(__doc__)
        return 2
    options = options_of(pathlib.Path(arguments[0]))
    faults = []
    for page in PAGES:
        text = page.read_text()
        for fault in [*path_faults(page, text), *option_faults(text, options), *section_faults(text)]:
            faults.append(f"{page.relative_to(TREE)}: {fault}")
    for path in sources():
        for fault in section_faults(path.read_text()):
            faults.append(f"{path.relative_to(TREE)}: {fault}")
    print("\n".join(faults) if faults else f"{len(PAGES)} pages name what is there")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
