#!/usr/bin/env python3
"""Each command of the table of questions in docs/start.md runs on a real JVM: tasks.py BIN PAGE

PID is the shop of tests/apps, CORE is a core of it that jtrace writes, BEFORE and AFTER are a trace; durations are cut to a second.
A question has at most two commands.
"""
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

from run import SOURCE, Skip, find_java, start_app

QUESTIONS = 21
# 1: something is wrong; it does not hold. 9: an array was being made at the moment of the look, which the line says.
FOUND = {"jtrace diagnose": {0, 1}, "hsperf check": {0, 1}, "jtrace inspect": {0, 9}}


def questions(page):
    """[(question, [command...])] of the first table."""
    rows = re.findall(r"^\| (.*?) \| (.*) \|$", page.read_text(), re.M)
    return [(question, re.findall(r"`((?:jtrace|hsperf) (?!list`)[^`]*)`", commands)) for question, commands in rows
            if commands != "commands" and not commands.startswith("-")][:QUESTIONS]


def run(bin_folder, folder, command, places):
    words = [places.get(word, word.replace("com.example", "Shop").replace("Shop.*", "Shop*")) for word in shlex.split(command)]
    if "--duration" in words:
        words[words.index("--duration") + 1] = "1s"
    elif words[1] in ("slow", "exceptions", "allocations", "poll"):
        words += ["--duration", "1s"]
    done = subprocess.run([bin_folder / words[0], *words[1:]], cwd=folder, capture_output=True, text=True, timeout=60,
                          stdin=subprocess.DEVNULL)
    if done.returncode not in FOUND.get(" ".join(words[:2]), {0}):
        return [f"{command}: status {done.returncode}: {done.stderr.strip()}"]
    if not done.stdout and "-o" not in words:
        return [f"{command}: prints nothing"]
    return []


def take_core(jtrace, pid, path):
    """A core of a moment without a collection or a large array that is being made: one of those is answered with status 9, and
    this shop has many of both. If none is found the tasks fail."""
    for _ in range(20):
        subprocess.run([jtrace, "-q", "core", str(pid), "-o", path], check=True)
        looked = subprocess.run([jtrace, "-q", "inspect", path, "histogram"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if looked.returncode == 0:
            return
        pathlib.Path(path).unlink()
    subprocess.run([jtrace, "-q", "core", str(pid), "-o", path], check=True)


def main():
    bin_folder, page = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    try:
        home = find_java()
    except Skip as reason:
        required = "live" in os.environ.get("JTRACE_REQUIRE", "").split(",")
        print(reason)
        sys.exit(1 if required else 77)
    asked = questions(page)
    faults = [f"{question}: {len(commands)} commands" for question, commands in asked if not 0 < len(commands) < 3
              and "same commands" not in question and "container" not in question]
    if len(asked) != QUESTIONS:
        faults.append(f"{len(asked)} questions")
    with tempfile.TemporaryDirectory(prefix="jtrace-tasks") as folder:
        shop = start_app(home, folder, "Shop")
        trace = str(SOURCE / "tests/cli/data/till.trcxml.gz")
        places = {"PID": str(shop.pid), "CORE": folder + "/core", "BEFORE": trace, "AFTER": trace, "CLASS": "java.lang.String"}
        take_core(bin_folder / "jtrace", shop.pid, folder + "/core")
        for _, commands in asked:
            for command in commands:
                faults += run(bin_folder, folder, command, places)
        if shop.poll() is not None:
            faults.append("the JVM has died")
        shop.communicate("")
    print("\n".join(faults) or f"{sum(len(commands) for _, commands in asked)} commands")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
