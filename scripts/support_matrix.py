#!/usr/bin/env python3
"""Makes docs/support_matrix.md of the rows that the live tests wrote: support_matrix.py ROWS > docs/support_matrix.md

    support_matrix.py --section MODE ROWS FILE    puts the rows of one mode between the marks <!-- matrix MODE --> and
                                                  <!-- end --> of a document of its own (JVMPI: docs/jvmpi.md)

A row is JDK, collector, mode, feature, gap, separated by tabs (tests/testlib/support_matrix.h). A feature works on a JDK with
the collectors for which no row has a gap; every gap is a line below the table with its reason.
"""
import collections
import pathlib
import re
import sys

HEAD = """# What works where

Written by `scripts/dev matrix` from what the live tests found on the machine they ran on; do not edit. A cell names the
collectors a feature was tried with; a number is a gap, with its reason below. *chroot*: a JDK of the tree that
`scripts/jdks` makes, traced from outside of its root. All of it is x86-64; what was tried on AArch64 is in docs/install.md.
"""


def jdk_order(jdk):
    return (int(re.match(r"\d+", jdk)[0]), jdk)


def cell(rows, gaps, key):
    """The cell's text; new gaps get the next number."""
    if not rows:
        return "not tried"
    works = sorted({row[1] for row in rows if not row[4]})
    texts = [", ".join(works)] if works else []
    for row in sorted({(row[1], row[4]) for row in rows if row[4]}):
        line = f"{key[1]} ({key[0]}), JDK {key[2]}, {row[0]}: {row[1]}"
        if line not in gaps:
            gaps.append(line)
        texts.append(f"[{gaps.index(line) + 1}]")
    return " ".join(texts)


def table(rows):
    jdks = sorted({row[0] for row in rows}, key=jdk_order)
    features = collections.OrderedDict(((row[2], row[3]), None) for row in sorted(rows, key=lambda row: (row[2], row[3])))
    gaps = []
    lines = ["| mode | feature | " + " | ".join("JDK " + jdk for jdk in jdks) + " |", "|---|---|" + "---|" * len(jdks)]
    for mode, feature in features:
        cells = [cell([row for row in rows if (row[0], row[2], row[3]) == (jdk, mode, feature)], gaps, (mode, feature, jdk))
                 for jdk in jdks]
        lines.append(f"| {mode} | {feature} | " + " | ".join(cells) + " |")
    return lines, gaps


OWN_DOCUMENTS = ["JVMPI"]


def read_rows(path):
    with open(path, encoding="utf-8") as file:
        return [(line.rstrip("\n").split("\t") + [""])[:5] for line in file]


def fill_section(mode, rows, path):
    """The table of one mode in a document that is otherwise written by hand."""
    document = pathlib.Path(path)
    text = document.read_text(encoding="utf-8")
    before, mark, rest = text.partition(f"<!-- matrix {mode} -->\n")
    end = rest.find("<!-- end -->")
    rows = [row for row in rows if row[2] == mode]
    if not mark or end < 0 or not rows:
        sys.stderr.write(f"support_matrix: {path} has no marks for {mode}, or there are no rows of it\n")
        return 1
    lines, _ = table(rows)
    document.write_text(before + mark + "\n".join(lines) + "\n" + rest[end:], encoding="utf-8")
    return 0


def main(arguments):
    if len(arguments) == 4 and arguments[0] == "--section":
        return fill_section(arguments[1], read_rows(arguments[2]), arguments[3])
    if len(arguments) != 1:
        sys.stderr.write(__doc__)
        return 2
    rows = [row for row in read_rows(arguments[0]) if row[2] not in OWN_DOCUMENTS]
    if not rows:
        sys.stderr.write("support_matrix: no rows: did the live tests run?\n")
        return 1
    lines, gaps = table(rows)
    print(HEAD)
    print("\n".join(lines))
    if gaps:
        print("\nGaps:\n")
        print("\n".join(f"{number}. {gap}" for number, gap in enumerate(gaps, 1)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
