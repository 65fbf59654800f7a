#!/usr/bin/env python3
"""What jtrace reads in each core of scripts/arm64-cores, compared with what that JVM printed about itself just before.

    cores_test.py JTRACE

Java frames with their lines, locks that are held, objects waited for; the number and size of the program's objects; native
frames to each thread's start. Exit status 77: there are no cores (1 if JTRACE_REQUIRE names arm64).
"""
import glob
import os
import pathlib
import re
import subprocess
import sys

WHERE = pathlib.Path(os.environ.get("JTRACE_ARM64", "/var/cache/jtrace/arm64"))
OBJECT = re.compile(r"<0x[0-9a-f]+> \(a ([^)]*)\)")
# As the JVM words it; jtrace says what is waited for in the thread's first lines, so those are compared as a set.
WAITS = ("waiting on", "waiting to lock", "parking to wait for")


def threads_of(text):
    """Name -> (frames and locks in their order, what is waited for)."""
    threads, frames, waits = {}, None, None
    for line in text.splitlines():
        name = re.match(r'"([^"]+)"', line)
        if name:
            frames, waits = threads.setdefault(name.group(1), ([], set()))
            continue
        line = re.sub(r"\((?:[\w.]+@[^/()]*/)", "(", line.strip())  # the module, which jtrace leaves out
        if line.startswith("Locked ownable"):
            frames = None  # of java.util.concurrent: jtrace has them with --locks
        if frames is None:
            continue
        frame = re.match(r"at (\S+\.[\w$<>]+\([^)]*\))", line)
        thing = OBJECT.search(line)
        if frame and not line.endswith(" native"):
            frames.append(re.sub(r"/0x[0-9a-f]+", "", frame.group(1)))
        elif thing and (line.startswith("- locked") or "re-lock" in line):
            frames.append("locked " + thing.group(1))
        elif thing and any(word in line for word in WAITS):
            waits.add(thing.group(1))
    return threads


def without_line(frames):
    return [re.sub(r":\d+\)", ")", frames[0])] + frames[1:] if frames else frames


def objects_of(histogram):
    rows = re.findall(r"^\s*\d+:\s+(\d+)\s+(\d+)\s+(\S+)", histogram, re.M)
    return {name: (int(count), int(size)) for count, size, name in rows}


def check(jtrace, core):
    root = WHERE / "trees" / (core / "sysroot").read_text().strip()
    faults = []

    def run(*arguments):
        done = subprocess.run([jtrace, *arguments, "--sysroot", root], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            faults.append(f"{arguments[0]} {arguments[-1]}: status {done.returncode}: {done.stderr.strip()}")
        return done.stdout

    stack = run("stack", core / "core")
    ours, theirs = threads_of(stack), threads_of((core / "threads.txt").read_text())
    compared = 0
    for name, (frames, waits) in theirs.items():
        if not frames:
            continue
        compared += 1
        found, found_waits = ours.get(name, ([], set()))
        running = name == "spinner"  # went on after it had been printed
        if (without_line(found) != without_line(frames)) if running else (found, found_waits) != (frames, waits):
            faults.append(f"{name}: {found} {found_waits}, the JVM has {frames} {waits}")
    if compared < 11:  # JDK 8 has the fewest threads of its own
        faults.append(f"only {compared} threads have frames")
    for lack in re.findall(r"^.*(?:missing in|incomplete|not known).*$", stack, re.M):
        faults.append(f"native frames: {lack.strip()}")
    count = objects_of(run("inspect", core / "core", "histogram")).get("Exhibits$Marker")
    if count != objects_of((core / "histogram.txt").read_text()).get("Exhibits$Marker") or count is None:
        faults.append(f"objects of Exhibits$Marker: {count}")
    return compared, faults


def check_foreign_library(jtrace, core):
    """A libjvm.so of this machine cannot serve: one line names both machines."""
    libraries = glob.glob("/usr/lib/jvm/*/lib/server/libjvm.so")
    if not libraries:
        return []
    done = subprocess.run([jtrace, "inspect", core / "core", "info", "--libjvm", libraries[0]], stderr=subprocess.PIPE,
                          stdout=subprocess.DEVNULL, text=True)
    good = done.returncode == 8 and "AArch64" in done.stderr and "x86-64" in done.stderr and done.stderr.count("\n") == 1
    return [] if good else [f"another machine's libjvm.so: status {done.returncode}: {done.stderr.strip()}"]


def main(jtrace):
    cores = sorted(path.parent for path in WHERE.glob("cores/*/core"))
    if not cores:
        print(f"no cores in {WHERE}: scripts/arm64-cores makes them")
        return 1 if "arm64" in os.environ.get("JTRACE_REQUIRE", "").split(",") else 77
    failed = False
    for core in cores:
        compared, faults = check(jtrace, core)
        if core.name == "17-Serial":
            faults += check_foreign_library(jtrace, core)
        print(f"{core.name}: {compared} threads compared" + "".join(f"\n    {fault}" for fault in faults))
        failed = failed or bool(faults)
    return 1 if failed else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
