#!/usr/bin/env python3
"""Holds what docs/hacking.md says of tests.

    check_tests.py [TREE]       check a tree (default: the one this script is in)
    check_tests.py --self-test  plant violations in a tree of its own and see each one found

Names: the suite and the test in CamelCase, without underscores; an abbreviation is one word (Jvm, Xml).
Rooms: tests/unit/FOLDER/NAME_test.cpp tests FOLDER: it includes a header of it, or a fixture beside it.
"""
import pathlib
import re
import sys

import planted

TEST = re.compile(r"^(?:TYPED_)?TEST(?:_[FP])?\(\s*(\w+)\s*,\s*(\w+)\s*\)", re.MULTILINE)
INSTANCES = re.compile(r"^INSTANTIATE_TEST_SUITE_P\(\s*(\w*)\s*,", re.MULTILINE)
CAMEL_CASE = re.compile(r"[A-Z][A-Za-z0-9]*\Z")
SHOUTED = re.compile(r"[A-Z]{4}")  # "DoesAXmlThing" has three in a row at most
INCLUDE = re.compile(r'^#include "([^"]+)/[^/"]+"', re.MULTILINE)


def name_fault(name):
    if not CAMEL_CASE.match(name):
        return f"'{name}' is not in CamelCase"
    shouted = SHOUTED.search(name)
    return f"'{name}' has an abbreviation in capitals ({shouted[0]}...)" if shouted else None


def name_faults(text):
    """(offset, fault) of each name in a source."""
    for match in TEST.finditer(text):
        for name in match.groups():
            if name_fault(name):
                yield match.start(), name_fault(name)
    for match in INSTANCES.finditer(text):
        if match[1] and name_fault(match[1]):
            yield match.start(), name_fault(match[1])


def room_fault(tree, path, text):
    folder = pathlib.PurePosixPath(path).parent.relative_to("tests/unit").as_posix()
    if not (tree / folder).is_dir():
        return f"{folder}/ is not a folder of the tree"
    included = set(INCLUDE.findall(text))
    return None if included & {folder, f"tests/unit/{folder}"} else f"includes nothing of {folder}/"


def check(tree):
    """One line per fault."""
    faults = []
    for file in sorted((tree / "tests").rglob("*.cpp")):
        path, text = file.relative_to(tree).as_posix(), file.read_text(errors="replace")
        faults += [f"{path}:{text.count(chr(10), 0, at) + 1}: {fault}" for at, fault in name_faults(text)]
        if path.startswith("tests/unit/") and path.endswith("_test.cpp"):
            fault = room_fault(tree, path, text)
            faults += [f"{path}:1: {fault}"] if fault else []
    return faults


GOOD = '#include "agent/waits/wait_class.h"\n\nTEST(WaitClass, IsAJvmsOwn) {}\n'
PLANTED = {
    "tests/unit/agent/waits/good_test.cpp": (GOOD, True),
    "tests/unit/agent/waits/fixture_test.cpp": (GOOD.replace("agent/waits", "tests/unit/agent/waits"), True),
    "tests/unit/agent/waits/snake_test.cpp": (GOOD.replace("IsAJvmsOwn", "is_its_own"), False),
    "tests/unit/agent/waits/suite_test.cpp": (GOOD.replace("(WaitClass", "(wait_class"), False),
    "tests/unit/agent/waits/broken_test.cpp": (GOOD.replace("(WaitClass, ", "(WaitClass,\n     ").replace("Is", "is"), False),
    "tests/unit/agent/waits/capitals_test.cpp": (GOOD.replace("IsAJvmsOwn", "IsAHTMLPage"), False),
    "tests/unit/agent/room_test.cpp": (GOOD, False),
    "tests/unit/agent/sleeps/no_folder_test.cpp": (GOOD.replace("agent/waits", "agent/sleeps"), False),
    "tests/live/free_test.cpp": ("TEST_P(EachJdk, IsTraced) {}\nINSTANTIATE_TEST_SUITE_P(, EachJdk, 1);\n", True),
    "tests/live/instance_test.cpp": ("INSTANTIATE_TEST_SUITE_P(all_jdks, EachJdk, 1);\n", False),
}


if __name__ == "__main__":
    sys.exit(planted.main(check, PLANTED, "tests: names and rooms are as docs/hacking.md says", ["agent/waits"]))
