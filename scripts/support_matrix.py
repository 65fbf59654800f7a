#!/usr/bin/env python3
"""Makes docs/support_matrix.md of the rows that the live tests wrote: support_matrix.py ROWS > docs/support_matrix.md

A row is JDK, collector, mode, feature, gap, separated by tabs (tests/testlib/support_matrix.h). A feature works on a JDK with
the collectors for which no row has a gap; every gap is a line below the table with its reason.
"""
import collections
import re
import sys

HEAD = """# What works where

Written by `scripts/dev matrix` from what the live tests found on the machine they ran on; do not edit. A cell names the
collectors a feature was tried with; a number is a gap, with its reason below. *chroot*: a JDK of the tree that
`scripts/jdks` makes, traced from outside of its root.
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


def main(arguments):
    if len(arguments) != 1:
        sys.stderr.write(__doc__)
        return 2
    with open(arguments[0], encoding="utf-8") as file:
        rows = [(line.rstrip("\n").split("\t") + [""])[:5] for line in file]
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
