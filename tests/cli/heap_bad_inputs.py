#!/usr/bin/env python3
"""Damaged, cut and oversized files that are called heap dumps: heap_bad_inputs.py JTRACE

Each is asked for what its classes retain: the exit status, the line on stderr, and that the memory stays far below what a
count in the file, or its unpacked size, would take.
"""
import gzip
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import zlib

from made_up_heap import Heap

OBJECT, ARRAY, FIRST = 0x1000, 0x1100, 0x100000
MIB = 1 << 20
HEAD = b"JAVA PROFILE 1.0.2\0\0\0\0\x08\0\0\0\0\0\0\0\1"


def made_up(count=1000):
    heap = Heap()
    heap.add_class(OBJECT, "java/lang/Object")
    heap.add_class(ARRAY, "[Ljava/lang/Object;", OBJECT)
    elements = [FIRST + 0x10000 + 0x40 * i for i in range(count)]
    heap.add_array(FIRST, ARRAY, elements)
    for each in elements:
        heap.add_object(each, OBJECT)
    heap.add_root(FIRST)
    return heap.dump()


def packed(first, zeros):
    """The bytes and then as many zeros, as gzip, made without having them all."""
    out, packer = [], zlib.compressobj(9, zlib.DEFLATED, 31)
    out.append(packer.compress(first))
    for _ in range(zeros // MIB):
        out.append(packer.compress(bytes(MIB)))
    return b"".join(out) + packer.flush()


def open_ended(dump):
    return dump[:-9]  # without the record that ends it


# name, ending, content, exit status, words on stderr ("" none), whether there is an answer
CASES = [
    ("a whole one", "hprof", made_up(), 0, "", True),
    ("a whole one, packed", "hprof.gz", gzip.compress(made_up()), 0, "", True),
    ("a header alone", "hprof", HEAD, 8, "the heap dump has no objects", False),
    ("a header and zeros", "hprof", HEAD + bytes(8 * MIB), 8, "the heap dump has no objects", False),
    ("a bomb behind a header", "hprof.gz", packed(HEAD, 600 * MIB), 8, "the heap dump has no objects", False),
    ("a bomb that is no dump", "hprof.gz", packed(b"", 600 * MIB), 8, "does not begin with", False),
    ("a bomb behind the last record", "hprof.gz", packed(made_up(), 600 * MIB), 9, "is unpacked only to", True),
    ("a bomb without a last record", "hprof.gz", packed(open_ended(made_up()), 600 * MIB), 9, "is unpacked only to", True),
    ("a bomb in a record of an unknown kind", "hprof.gz",
     packed(open_ended(made_up()) + b"\x77\0\0\0\0\xf0\0\0\0", 600 * MIB), 9, "is cut", True),
    ("a bomb in a segment", "hprof.gz", packed(open_ended(made_up()) + b"\x1c\0\0\0\0\x02\0\0\0", 33 * MIB), 9,
     "could not be read", True),
    ("zeros behind the last record", "hprof.gz", packed(made_up(), 10 * MIB), 0, "", True),
    ("packed and cut", "hprof.gz", gzip.compress(made_up(100000))[:-30000], 9, "ends too early, or its end is damaged", True),
    ("packed, another checksum", "hprof.gz", gzip.compress(made_up())[:-8] + b"\1\2\3\4" + gzip.compress(made_up())[-4:], 9,
     "ends too early, or its end is damaged", True),
    ("packed, garbage after", "hprof.gz", gzip.compress(made_up()) + b"garbage" * 10, 9, "ends too early, or its end is damaged",
     True),
    ("packed, something else in it", "hprof.gz", gzip.compress(b"hello"), 8, "does not begin with", False),
    ("an array of 2^32 - 1 references", "hprof",
     open_ended(made_up()) + b"\x1c\0\0\0\0\0\0\0\x21" + b"\x22" + bytes(6) + b"\x09\0\0\0\0\0" + b"\xff" * 4 + bytes(16), 9,
     "could not be read", True),
]


def check_one(jtrace, folder, name, ending, content, status, words, has_answer):
    file = folder / f"case.{ending}"
    file.write_bytes(content)
    ran = subprocess.Popen([jtrace, "heap", str(file), "retained"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    out, err = ran.stdout.read(), ran.stderr.read()
    _, ended, usage = os.wait4(ran.pid, 0)
    ran.returncode = os.waitstatus_to_exitcode(ended)
    faults = []
    if ran.returncode != status:
        faults.append(f"status {ran.returncode}, expected {status}")
    lines = [line for line in err.splitlines() if line.startswith("jtrace:")]
    if (words and not any(words in line for line in lines)) or (not words and lines):
        faults.append(f"it says {err!r}, expected {words!r}")
    if not has_answer and len(lines) != 1:
        faults.append(f"{len(lines)} lines for one error")
    if has_answer != ("are reachable" in out):
        faults.append(f"its answer: {out!r}")
    most = 250 * MIB
    if usage.ru_maxrss * 1024 > most:
        faults.append(f"{usage.ru_maxrss // 1024} MiB of memory")
    for fault in faults:
        print(f"{name}: {fault}")
    return not faults


def check_shrinking(jtrace, folder):
    """The shell has read the file once when it is cut, and reads of it again for each question."""
    file = folder / "shrinks.hprof"
    file.write_bytes(made_up(200000))
    ran = subprocess.Popen([jtrace, "heap", str(file), "shell"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, text=True)
    ran.stdin.write("retained\n")
    ran.stdin.flush()
    while "java.lang.Object[]" not in ran.stdout.readline():
        pass
    os.truncate(file, 4096)
    out, err = ran.communicate("retained\npaths java.lang.Object\nquit\n", timeout=120)
    if ran.returncode == 9 and "was cut while it was read" in err:
        return True
    print(f"a file that shrinks: status {ran.returncode}, it says {err!r}")
    return False


def main():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    jtrace = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        results = [check_one(jtrace, folder, *case) for case in CASES]
        results.append(check_shrinking(jtrace, folder))
    sys.exit(0 if all(results) else 1)


main()
