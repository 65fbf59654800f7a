#!/usr/bin/env python3
"""The names of options that documents have are written in trace/record alone: start_options.def and start_options.h.

    check_options.py [TREE]       check a tree (default: the one this script is in)
    check_options.py --self-test  plant violations in a tree of its own and see each one found

Code that reads or gives such an option uses the constant: a literal outlives a renamed option without a word.
"""
import re
import sys

import planted

TABLE = "trace/record/start_options.def"
HEADER = "trace/record/start_options.h"
FOLDERS = ["agent", "cli", "coreinspect", "diagnose", "doctor", "dtrace", "fleet", "perfdata", "sampling", "session", "trace"]


def names(tree):
    rows = re.findall(r'^START_(?:FLAG|CHOICE|VALUE)\((?:[^"()]*)"([a-z-]+)"', (tree / TABLE).read_text(), re.M)
    return rows + re.findall(r'k\w+Option = "([a-z-]+)"', (tree / HEADER).read_text())


def literal_of(options):
    """A name with a dash is of an option wherever it stands; a plain word where a key is compared, or an option given."""
    dashed = "|".join(re.escape(name) for name in options if "-" in name)
    every = "|".join(re.escape(name) for name in options)
    return re.compile(rf'"({dashed})"|\bkey(?:\.view\(\))?\s*[=!]=\s*"({every})"|\bgive(?:_flag)?\("({every})"')


def check(tree):
    """One line per fault."""
    literal = literal_of(names(tree))
    faults = []
    for file in (f for folder in FOLDERS for f in sorted((tree / folder).rglob("*"))):
        path = file.relative_to(tree).as_posix()
        if file.suffix not in (".h", ".cpp") or path == HEADER:
            continue
        for number, line in enumerate(file.read_text(errors="replace").splitlines(), 1):
            match = literal.search(line)
            if match:
                faults.append(f"{path}:{number}: {match[0]}: use the constant of {HEADER}")
    return faults


PLANTED = {
    TABLE: ('START_FLAG(7, CpuTime, cpu_time, "cpu-time",\n  "x")\nSTART_VALUE(int, A, a, Count, 512u << 10, 0, 1, "some-number", "y")\n'
            'START_CHOICE(3, PreciseTime, precise_time, "time", "coarse", "precise", "z")', True),
    HEADER: ('inline constexpr std::string_view kEventsOption = "events";', True),
    "trace/io/key.cpp": ('if (option.key.view() == "events") note();', False),
    "trace/io/dashed.cpp": ('constexpr auto kName = "some-number";', False),
    "cli/given.cpp": ('reader.give("time", "precise");', False),
    "cli/flag.cpp": ('reader.give_flag("cpu-time");', False),
    "cli/other.cpp": ('json.member("events", 1); row == "time"; give("filter", x);', True),
    "trace/io/constant.cpp": ("if (option.key == record::kEventsOption) note();", True),
}


if __name__ == "__main__":
    sys.exit(planted.main(check, PLANTED, "options: each name is written once"))
