#!/usr/bin/env python3
"""Writes the man pages of a program: the prose of packaging/man/PROGRAM.txt, with names, synopses and options as the program
itself says them.

    man.py BIN/PROGRAM FOLDER     one page a command: PROGRAM.1, PROGRAM-COMMAND.1
    man.py --check BIN/PROGRAM    each command has a page with prose, and its options are those of its --help

The date on the pages is SOURCE_DATE_EPOCH, else the day of the program's commit: same program, same bytes.
"""
import datetime
import os
import pathlib
import re
import subprocess
import sys

TREE = pathlib.Path(__file__).resolve().parent.parent


def run(program, *words):
    return subprocess.run([program, *words], capture_output=True, text=True, check=True).stdout


def tables(program):
    """Command -> its description, options, positionals and footer lines; "" is the program itself."""
    commands = {}
    for line in run(program, "__tables").splitlines():
        kind, command, *fields = line.split("\t")
        if kind == "command":
            commands[command] = {"about": fields[0], "option": [], "word-option": [], "positional": [], "footer": [], "units": []}
        else:
            commands[command][kind].append(fields)
    return commands


def prose(name):
    """Command -> list of (heading, lines)."""
    pages, page = {}, None
    for line in (TREE / "packaging/man" / f"{name}.txt").read_text().splitlines():
        if line.startswith("#"):
            continue
        if line.startswith("@"):
            page = pages.setdefault(line[1:].strip(), [("DESCRIPTION", [])])
        elif line.startswith("= "):
            page.append((line[2:], []))
        elif page is not None:
            page[-1][1].append(line)
    return pages


def roff(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + text if text[:1] in (".", "'") else text


def bold(text):
    return f"\\fB{roff(text)}\\fR"


def body(lines):
    """Paragraphs, and indented lines as they are."""
    out, block, kept = [], [], False
    for line in [*lines, ""]:
        indented = line.startswith("    ")
        if kept and not indented:
            out.append(".fi\n.RE")
            kept = False
        if indented and not kept:
            out += ([".PP", "\n".join(block)] if block else []) + [".PP\n.RS 4\n.nf"]
            block, kept = [], True
        if indented:
            out.append(roff(line[4:]))
        elif line.strip():
            block.append(roff(line))
        elif block:
            out += [".PP", "\n".join(block)]
            block = []
    return out


def value_of(kind):
    """"TEXT:{a,b}" and "FLOAT:POSITIVE" as a man page has them."""
    values = re.search(r"\{([^}]*)\}", kind)
    if values:
        return values[1].replace(",", "|")
    word = kind.split(":")[0].split("=")[0]
    return {"TEXT": "TEXT", "FLOAT": "NUMBER", "UINT": "NUMBER", "INT": "NUMBER"}.get(word, word)


def option_lines(options):
    out = []
    for names, kind, about in options:
        label = ", ".join(bold(name) for name in names.split(","))
        out += [".TP", label + (f" \\fI{roff(value_of(kind))}\\fR" if kind else ""), roff(about)]
    return out


def words_of(words):
    """"a,b" as what those words have: an option of views."""
    return ", ".join(words.split(","))


def word_option_lines(table):
    return option_lines([names, kind, f"{words_of(words)}: {about}"] for names, kind, about, words in table["word-option"])


def positional_words(table):
    words = []
    for name, need, _ in table["positional"]:
        word = f"\\fI{roff(name)}\\fR"
        words.append(word if need == "required" else f"[{word}]")
    return words


def page(name, command, all_commands, sections, date, version):
    table = all_commands[command]
    title = f"{name}-{command}" if command else name
    out = [f'.TH "{title.upper()}" 1 "{date}" "{name} {version}" "User Commands"', ".SH NAME",
           f"{roff(title)} \\- {roff(table['about'])}", ".SH SYNOPSIS"]
    if command:
        out.append(f"{bold(name + ' ' + command)} [\\fIOPTION\\fR...] " + " ".join(positional_words(table)))
    else:
        out.append(f"{bold(name)} \\fICOMMAND\\fR [\\fIOPTION\\fR...] [\\fIWORD\\fR...]")
    heading, lines = sections[0]
    out += [".SH " + heading, *body(lines)]
    if not command:
        out.append(".SH COMMANDS")
        for other in sorted(all_commands):
            if other:
                out += [".TP", f"\\fB{roff(name)}\\-{roff(other)}\\fR(1)", roff(all_commands[other]["about"])]
    if table["positional"]:
        out.append(".SH ARGUMENTS")
        for word, _, about in table["positional"]:
            out += [".TP", f"\\fI{roff(word)}\\fR", roff(about)]
    out += [".SH OPTIONS", *option_lines(table["option"])]
    if table["word-option"]:
        out += [".SS Options of views", *word_option_lines(table)]
    for (line,) in table["units"]:
        out += [".PP", roff(line)]
    notes = [line for (line,) in table["footer"] if not re.match(r"(?i)example: ", line)]
    written = "\n".join(line for _, lines in sections for line in lines)
    if notes and not any(heading == "OPERATIONS" for heading, _ in sections) and notes[0] not in written:
        out += [".SH NOTES", ".nf", *[roff(line) for line in notes if line.strip()], ".fi"]
    for heading, lines in sections[1:]:
        out += [".SH " + heading, *body(lines)]
    others = [f"\\fB{name}\\fR(1)"] if command else []
    out += [".SH SEE ALSO", ", ".join(others + [f"\\fB{'hsperf' if name == 'jtrace' else 'jtrace'}\\fR(1)"]) +
            f". The documents are in /usr/share/doc/jtrace."]
    return "\n".join(out) + "\n"


def pages_of(program):
    name = pathlib.Path(program).name
    version = run(program, "--version")
    commit_day = re.search(r"\d{4}-\d{2}-\d{2}", version)
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    date = (datetime.datetime.fromtimestamp(int(epoch), datetime.timezone.utc).strftime("%Y-%m-%d") if epoch else
            commit_day[0] if commit_day else "")
    number = version.split()[1]
    commands, texts = tables(program), prose(name)
    missing = sorted(set(commands) ^ set(texts))
    if missing:
        sys.exit(f"man.py: packaging/man/{name}.txt and the program do not have the same commands: {missing}")
    return {command: page(name, command, commands, texts[command], date, number)
            for command in commands}


def long_options(text):
    return set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", text))


def options_of_help(program, *words):
    options = run(program, *words, "--help").partition("Options:")[2].partition("\n\n")[0]
    offered = set()
    for line in options.splitlines():
        if re.match(r"  -", line):
            offered |= long_options(re.split(r"\s{2,}|(?<=[a-z]) (?=[A-Z])", line.strip())[0])
    return offered


def word_faults(program, command, table):
    """Each word's help has the options that the tables say it has."""
    faults, wanted = [], {}
    for names, _, _, words in table["word-option"]:
        for word in words.split(","):
            wanted.setdefault(word, set()).update(long_options(names.replace(",", " ")))
    general = options_of_help(program, command)
    for word, options in wanted.items():
        own = options_of_help(program, command, "1", word) - general
        if own != options:
            faults.append(f"{command} {word}: --help has {sorted(own)}, the page {sorted(options)}")
    return faults


def check(program):
    faults, table = [], tables(program)
    for command, text in pages_of(program).items():
        shown = text.replace("\\-", "-")
        wanted = options_of_help(program, *([command] if command else []))
        for names, _, _, _ in table[command]["word-option"]:
            wanted |= long_options(names.replace(",", " "))
        faults += word_faults(program, command, table[command])
        listed = shown.partition(".SH OPTIONS")[2].partition("\n.SH ")[0]
        found = {name for line in listed.splitlines() if line.startswith("\\fB-")
                 for name in long_options(re.sub(r"\\f[BIR]", " ", line))}
        faults += [f"{command or 'the program'}: {word} is in --help alone" for word in sorted(wanted - found)]
        faults += [f"{command or 'the program'}: {word} is in the page alone" for word in sorted(found - wanted)]
        mentioned = long_options("\n".join(line for part in (".SH DESCRIPTION", ".SH EXAMPLES")
                                           for line in shown.partition(part)[2].partition("\n.SH ")[0].splitlines()
                                           if command and (part != ".SH EXAMPLES" or f" {command} " in line)))
        known = wanted | {"--yes", "--max-stop"} if not command else wanted
        faults += [f"{command}: the prose names {word}, which it does not have" for word in sorted(mentioned - known)]
        # "Derived values: a, b." of hsperf check.
        names = " ".join(field for line in table[command]["footer"] for field in line if field.startswith("Derived values: "))
        faults += [f"{command}: {word} of the help is not in the page" for word in names.rstrip(".").replace(",", "").split()[2:]
                   if f" {word} " not in f" {shown} ".replace("\n", " ")]
        if len(text.partition(".SH DESCRIPTION")[2].partition("\n.SH ")[0]) < 60 or ".SH EXAMPLES" not in text and command:
            faults.append(f"{command}: no prose, or no example")
    return faults


def main(arguments):
    if len(arguments) != 2:
        sys.stderr.write(__doc__)
        return 2
    if arguments[0] == "--check":
        faults = check(arguments[1])
        print("\n".join(faults) if faults else "the pages have the options of --help")
        return 1 if faults else 0
    folder = pathlib.Path(arguments[1])
    folder.mkdir(parents=True, exist_ok=True)
    name = pathlib.Path(arguments[0]).name
    for command, text in pages_of(arguments[0]).items():
        (folder / (f"{name}-{command}.1" if command else f"{name}.1")).write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
