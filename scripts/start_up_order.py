#!/usr/bin/env python3
"""Writes cli/start_up.ld anew: start_up_order.py JTRACE PID >cli/start_up.ld

What a warm `jtrace cmd` of this JVM runs, function by function, as valgrind's callgrind sees it. JTRACE is the static program of
a release build that is not stripped. Needs valgrind and binutils. Only the start is better for it: a list that is out of date
costs some page faults.
"""
import os
import re
import subprocess
import sys
import tempfile

HEAD = """/* What a start of a static program runs, side by side: the kernel maps a file's pages as they are touched, sixteen at a time, and
   a warm `jtrace cmd` touched some 35 such places of 11 MB of code. Only order: a name that matches nothing, as in a program that
   lacks it or with another libc, costs such a fault and makes no other difference. Made by scripts/start_up_order.py. To see what is
   touched: perf trace -F all --no-syscalls. */
SECTIONS
{
  .text.first :
  {
    *crt*.o(.text)
    *(.text.startup .text.startup.*)
    /* What valgrind's machine does without: the kernel's vDSO, its string functions, waits. */
    *libc.a:dl-[lo]*.o(.text .text.*)
    *libc.a:pthread_mutex_*lock.o(.text .text.*)
    *libc.a:strcmp-avx2.o(.text .text.*)
    *libc.a:strcmp-evex.o(.text .text.*)
    *libstdc++.a:guard.o(.text .text.*)
    *(.text._ZN*6jtrace6attach6Waiter*)
"""
TAIL = """  }
}
INSERT BEFORE .text;
"""
ARCHIVES = ("libc.a", "libm-*.a", "libstdc++.a")


def run(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def functions_of(jtrace, pid):
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out")
        run("valgrind", "--tool=callgrind", "--demangle=no", f"--callgrind-out-file={out}", jtrace, "cmd", pid, "jcmd", "VM.version")
        with open(out, encoding="utf-8") as file:
            found = set(re.findall(r"^c?fn=\(\d+\) ([A-Za-z_][\w.$]*)", file.read(), re.M))
    return sorted(found)


def members():
    """Symbol -> (archive, object file)s that define it as code."""
    known = {}
    for archive in ARCHIVES:
        path = run("g++", f"-print-file-name={archive.replace('-*', '')}").strip()
        if "*" in archive:  # a script of the linker: it names the archive
            path = re.search(r"\S+/libm-\S+[.]a", open(path, encoding="utf-8").read())[0]
        for line in run("nm", "-A", "--defined-only", path).splitlines():
            match = re.match(r"[^:]*:([^:]*):\S+ [tTiWw] (\S+)$", line)
            if match:
                known.setdefault(match[2], []).append((archive, match[1]))
    return known


def patterns_of(function, known):
    """Input sections that hold it."""
    if function.startswith("_Z") or function not in known:
        # Of two names of one constructor the linker may know the other.
        yield "*(.text." + re.sub(r"([CD])[12](E)", r"\1?\2", function) + ")"
    for archive, member in known.get(function, []):
        yield f"*{archive}:{member}(.text)" if archive == "libstdc++.a" else f"*{archive}:{member}(.text .text.*)"
        # What processors with AVX-512 take instead.
        if re.search(r"-avx2?\b|-avx-", member):
            yield f"*{archive}:{re.sub('-avx2?', '-evex', member)}(.text .text.*)"


def main(arguments):
    if len(arguments) != 2:
        sys.exit(__doc__)
    known = members()
    found = {pattern for function in functions_of(*arguments) for pattern in patterns_of(function, known)}
    print(HEAD + "".join(f"    {pattern}\n" for pattern in sorted(found)) + TAIL, end="")


if __name__ == "__main__":
    main(sys.argv[1:])
