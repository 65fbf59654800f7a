#!/usr/bin/env python3
"""An output that is one of the inputs, by its name or a link: overwriting.py BIN TRACE

Each command must refuse it as usage, name the file, and leave its bytes alone.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

DUMP = b"JAVA PROFILE 1.0.2\0\0\0\0\x08" + b"\0" * 8
# The words after the program's name; {in} is the input, {other} a second one, {out} the output.
COMMANDS = [
    ("t.xml", "jtrace report {in} -o {out}"),
    ("t.xml", "jtrace report {other} {in} -o {out}"),
    ("t.xml", "jtrace convert {in} --to jsonl -o {out}"),
    ("t.xml", "jtrace convert {in} --to sqlite -o {out}"),
    ("t.xml", "jtrace merge {other} {in} -o {out}"),
    ("t.html", "jtrace diff {other} {in} -o {out}"),
    ("t.xml", "jtrace slow {in} -o {out}"),
    ("t.xml", "jtrace exceptions {in} -o {out}"),
    ("t.xml", "jtrace allocations {in} -o {out}"),
    ("t.pool", "jtrace recover {in} -o {out}"),
    ("d.hprof", "jtrace heap {in} leaks -o {out}"),
    ("d.hprof", "jtrace heap diff {other} {in} -o {out}"),
    ("d.hprof", "jtrace inspect {in} histogram -o {out}"),
    ("x.core", "jtrace inspect {in} locks -o {out}"),
    ("x.core", "jtrace inspect {in} heapdump -o {out}"),
    ("x.hprof", "jtrace inspect {in} heapdump --redact -o {out}"),
    ("x.core", "jtrace stack {in} -o {out}"),
    ("libjvm.so", "jtrace inspect {other} locks --libjvm {in} -o {out}"),
    ("t.xml", "hsperf restore {in} -o {out}"),
]


def main():
    programs, trace = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]).read_bytes()
    faults = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for file, line in COMMANDS:
            data = DUMP if file.endswith(".hprof") else trace
            same, other, symbolic, hard = (folder / (kind + file) for kind in ("", "other-", "symbolic-", "hard-"))
            for path in (same, other):
                path.write_bytes(data)
            symbolic.symlink_to(same)
            os.link(same, hard)
            for output in (same, symbolic, hard):
                words = [w.format(**{"in": same, "other": other, "out": output}) for w in line.split()]
                done = subprocess.run([programs / words[0], *words[1:]], capture_output=True, text=True, timeout=60)
                sound = done.returncode == 2 and f"{output} is " in done.stderr and len(done.stderr.splitlines()) == 1
                if not sound or same.read_bytes() != data or not symbolic.is_symlink():
                    faults.append(f"{' '.join(words)}: status {done.returncode}, {done.stderr[-300:]!r}")
            for path in (same, other, symbolic, hard):
                path.unlink()
        if left := sorted(folder.iterdir()):
            faults.append(f"files are left: {left}")
        # Standard input as well; and what is not the input is replaced as ever.
        path = folder / "t.xml"
        path.write_bytes(trace)
        with path.open("rb") as stream:
            done = subprocess.run([programs / "jtrace", "convert", "-", "-o", path], stdin=stream, capture_output=True, timeout=60)
        if done.returncode != 2 or path.read_bytes() != trace:
            faults.append(f"from standard input: status {done.returncode}, {done.stderr[-300:]!r}")
        (folder / "old.xml").write_bytes(trace)
        done = subprocess.run([programs / "jtrace", "convert", path, "-o", folder / "old.xml"], capture_output=True, timeout=60)
        if done.returncode != 0:
            faults.append(f"another file: status {done.returncode}, {done.stderr[-300:]!r}")
    print("\n".join(faults) or f"{len(COMMANDS)} commands refused")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
