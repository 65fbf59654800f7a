#!/usr/bin/env python3
"""What docs/start.md shows of a command has the form of what it prints: start_output.py BIN PAGE

Each "$ jtrace ..." of the page runs on a real JVM (Shop, Throws of tests/apps) or on the trace of which the page speaks. Of the
lines below it those count that are headings, titles or sentences: their words must be printed, whatever the figures and names. What
the page shows of till.xml must be printed as it is.
"""
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import threading

from run import SOURCE, Skip, find_java, start_app

# In a terminal of its own, or with a program or files of yesterday that are not here.
NOT_RUN = ("hsperf top", "jtrace diff", "jtrace inspect 16990 locks", "jtrace stack 16990", "jtrace inspect core", "jtrace doctor",
           "jtrace report")
EXACT = "till.xml"
LEAST = 25  # lines that are compared: a page that is read wrong has fewer


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
    if words.startswith(("at ", "thrown in", "in the thread", "below it", "blocked ")) or re.match(r"\S+ \S+ (PASSED|\d)", words):
        return None
    parts = re.split(r'(\d[\d.,:]*|"[^"]*"|\b[A-Z]\w*[.$][\w.$]+)', words)
    return "".join(r"\S.*?" if i % 2 else re.escape(part) for i, part in enumerate(parts)).replace(r"\.\.\.", ".*")


def substituted(command, folder, pids):
    words = [folder + "/" + word if word.endswith(".xml") and word != EXACT else word for word in shlex.split(command)]
    words = [str(SOURCE / "tests/cli/data/till.trcxml.gz") if word == EXACT else word for word in words]
    pid = pids["Throws" if words[1] == "exceptions" else "Shop"]
    words = [str(pid) if word == "PID" or re.fullmatch(r"\d{4,5}", word) else word for word in words]
    for i, word in enumerate(words):
        if word == "--duration":
            words[i + 1] = "6s" if "exceptions" in words else "3s"
    return words


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
    faults, compared = [], 0
    with tempfile.TemporaryDirectory(prefix="jtrace-start") as folder:
        started = {app: start_app(home, folder, app) for app in ("Shop", "Throws")}
        pids = {app: each.pid for app, each in started.items()}
        subprocess.run([bin_folder / "jtrace", "-q", "core", str(pids["Shop"]), "-o", folder + "/core"], check=True)
        over = threading.Event()
        feeder = threading.Thread(target=feed, args=(started["Throws"], over), daemon=True)
        feeder.start()
        for command, shown in blocks(page):
            if command.startswith(NOT_RUN):
                continue
            count, wrong = compare(bin_folder, folder, pids, command, shown)
            compared += count
            faults += wrong
        over.set()
        feeder.join(5)
        for each in started.values():
            each.kill()
            each.communicate()
    if compared < LEAST:
        faults.append(f"only {compared} lines were compared")
    print("\n".join(faults) or f"{compared} lines of {page.name} are as printed")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
