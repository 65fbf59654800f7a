#!/usr/bin/env python3
"""What docs/start.md shows of a command has the form of what it prints: start_output.py BIN PAGE

Each "$ jtrace ..." of the page runs on a real JVM (Shop, Throws, Standing of tests/apps), on the core of one that crashed (where
this machine writes cores into the folder of the process), or on the trace of which the page speaks. Of the
lines below it those count that are headings, titles or sentences: their words must be printed, whatever the figures and names. What
the page shows of till.xml must be printed as it is.
"""
import os
import pathlib
import re
import resource
import shlex
import subprocess
import sys
import tempfile
import threading

from run import SOURCE, Skip, find_java, start_app

PROGRAMS = {"jtrace exceptions": "Throws", "jtrace inspect 16990 locks": "Standing"}  # all others: Shop
MORE_WORDS = {"hsperf top": ["--count", "1", "--interval", "500ms"]}  # without them it is for a terminal
YESTERDAY = ("monday.xml", "tuesday.xml")
CORE = "jtrace inspect core"
EXACT = "till.xml"
LEAST = 35  # lines that are compared: a page that is read wrong has fewer


def blocks(page):
    """[(command, [line...])]: the indented lines after each command, until the next one or the end of the block."""
    found = []
    inside = False
    for line in page.read_text().splitlines():
        if line.startswith("    $ "):
            found.append((line[6:], []))
            inside = True
        elif line.startswith("    ") and inside:
            if line.strip() != "...":
                found[-1][1].append(line[4:])
        elif line.strip():
            inside = False
    return found


def form(line):
    """The line as a pattern, or None if it is a row of data."""
    words = re.sub(r"\s+", " ", line.strip())
    if re.search(r"\d", words) and len(re.findall(r"\b[a-z]{3,}\b", words)) < 4:
        return None
    if words.startswith(("at ", "thrown in", "in the thread", "below it", "blocked ", "called by ")) or re.match(r"\S+ [^\s:]+ (PASSED|\d)", words):
        return None
    parts = re.split(r'(\d+ JVMs?|0x[0-9a-f]+|\d[\d.,:]*|"[^"]*"|\(a [^)]*\)|\b[A-Z]\w*[.$][\w.$]+)', words)
    return "".join(r"\S.*?" if i % 2 else re.escape(part) for i, part in enumerate(parts)).replace(r"\.\.\.", ".*")


def substituted(command, folder, pids):
    words = [folder + "/" + word if word.endswith(".xml") and word != EXACT else word for word in shlex.split(command)]
    words = [str(SOURCE / "tests/cli/data/till.trcxml.gz") if word == EXACT else word for word in words]
    pid = pids[next((app for start, app in PROGRAMS.items() if command.startswith(start)), "Shop")]
    words = [str(pid) if word == "PID" or re.fullmatch(r"\d{4,5}", word) else word for word in words]
    for i, word in enumerate(words):
        if word == "--duration":
            words[i + 1] = "6s" if "exceptions" in words else "3s"
    return words + next((more for start, more in MORE_WORDS.items() if command.startswith(start)), [])


def crash(home, folder):
    """Leaves FOLDER/core, if this machine writes cores to where the process is."""
    pattern = pathlib.Path("/proc/sys/kernel/core_pattern").read_text().strip()
    if pattern != "core":
        return f"no core of a crash: kernel.core_pattern is '{pattern}'"
    place = pathlib.Path(folder, "crashed")
    place.mkdir()
    limit = lambda: resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    start_app(home, folder, "Standing", cwd=place, preexec_fn=limit).communicate("crash\n", timeout=60)
    written = sorted(place.glob("core*"))
    if not written:
        return "no core of a crash: this machine may not write one"
    written[0].rename(folder + "/core")
    return None


def record_yesterday(bin_folder, folder, pid):
    for name, duration in zip(YESTERDAY, ("2", "3")):
        subprocess.run([bin_folder / "jtrace", "-q", "attach", str(pid), "-o", f"{folder}/{name}", "--duration", duration,
                        "--events", "methods", "--filter", "Shop*"], check=True)


def compare(bin_folder, folder, pids, command, shown):
    words = substituted(command, folder, pids)
    done = subprocess.run([bin_folder / words[0], *words[1:]], cwd=folder, capture_output=True, text=True, timeout=120,
                          stdin=subprocess.DEVNULL)
    if done.returncode not in (0, 9):
        return 0, [f"{command}: status {done.returncode}: {done.stderr.strip()[:300]}"]
    printed = [re.sub(r"\s+", " ", line.strip()) for line in done.stdout.splitlines()]
    faults, count = [], 0
    for line in shown:
        if EXACT in command:
            pattern = re.escape(re.sub(r"\s+", " ", line.strip()))
        else:
            pattern = form(line)
        if pattern is None or not pattern:
            continue
        count += 1
        if not any(re.fullmatch(pattern, each) for each in printed):
            faults.append(f"$ {command}\n  the page has  {line}\n  printed is    " + "\n                ".join(printed[:12]))
    return count, faults


def feed(throws, over):
    """Exceptions of each way that the page speaks of, while a command traces them."""
    try:
        while not over.wait(0.3):
            for way in ("swallowed", "logged", "wrapped", "suppressed", "left"):
                throws.stdin.write(way + " 1\n")
            throws.stdin.flush()
            for _ in range(5):
                throws.stdout.readline()
    except (BrokenPipeError, ValueError):
        pass


def main():
    bin_folder, page = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    try:
        home = find_java()
    except Skip as reason:
        print(reason)
        sys.exit(1 if "live" in os.environ.get("JTRACE_REQUIRE", "").split(",") else 77)
    faults, compared, least, started = [], 0, LEAST, {}
    with tempfile.TemporaryDirectory(prefix="jtrace-start") as folder:
        no_core = crash(home, folder)  # before the others: it writes their class files
        try:
            for app in ("Shop", "Throws", "Standing"):
                started[app] = start_app(home, folder, app)
            pids = {app: each.pid for app, each in started.items()}
            record_yesterday(bin_folder, folder, pids["Shop"])
            over = threading.Event()
            feeder = threading.Thread(target=feed, args=(started["Throws"], over), daemon=True)
            feeder.start()
            for command, shown in blocks(page):
                if no_core and command.startswith(CORE):
                    least -= sum(1 for line in shown if form(line))
                    print(no_core)
                    continue
                count, wrong = compare(bin_folder, folder, pids, command, shown)
                compared += count
                faults += wrong
            over.set()
            feeder.join(5)
        finally:
            for each in started.values():
                each.kill()
                each.communicate()
    if compared < least:
        faults.append(f"only {compared} lines were compared")
    print("\n".join(faults) or f"{compared} lines of {page.name} are as printed")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
