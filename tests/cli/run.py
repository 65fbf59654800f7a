#!/usr/bin/env python3
"""Runs command-line behaviour that is written down as data: run.py [--bin FOLDER] FILE.test [WORD-OF-A-NAME]

A file is a list of cases, separated by empty lines; # starts a comment line. A case is lines of a directive and its value:

  NAME text            what is expected, in words
  WITH kind [word...]  starts something first; its pid is {pid}:
                         jvm [FLAG...]    tests/apps/Idle.java with JVM flags, ready
                         stopped-jvm      the same, stopped by SIGSTOP
                         process          a process that is no JVM and would die of a signal
                         zombie           a dead child that was not waited for
                         gone             a pid that was just in use and is free
  AS uid               run the command as this user (from root; else the case is skipped)
  RUN command line     words as in a shell, without one; {bin} {pid} {tmp} (a folder of the case's own) {source} are replaced
  INPUT text           for stdin; \\n is a newline
  STATUS n             exit status (default 0)
  OUT text / ERR text  a line of stdout / stderr that contains this text
  OUT~ / ERR~ regex    a line in which this regular expression is found
  NO-OUT, NO-ERR       nothing there
  WITHIN ms            it took no longer
  ABSENT path          no such file afterwards

Checked in every case: an exit status other than 0 and 9 comes with exactly one line on stderr (a usage error may add its help),
and what was started WITH is alive afterwards and has printed nothing.
Exit status: 0 all as written, 1 not, 77 skipped (the reason is printed) unless JTRACE_REQUIRE names live.
"""
import argparse
import os
import pathlib
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
MANY = {"OUT", "ERR", "OUT~", "ERR~", "ABSENT"}
ONCE = {"NAME", "WITH", "AS", "RUN", "INPUT", "STATUS", "NO-OUT", "NO-ERR", "WITHIN"}


class Skip(Exception):
    pass


def parse(file):
    """The cases of a file: dicts of directive -> value, or -> list of values for those that may come more than once."""
    cases = []
    for block in re.split(r"\n\s*\n", file.read_text()):
        case = {}
        for line in block.splitlines():
            if not line.strip() or line.startswith("#"):
                continue
            word, _, value = line.partition(" ")
            if word in MANY:
                case.setdefault(word, []).append(value.strip())
            elif word in ONCE and word not in case:
                case[word] = value.strip()
            else:
                sys.exit(f"{file}: unknown or repeated directive '{word}'")
        if case:
            if "RUN" not in case:
                sys.exit(f"{file}: a case without RUN: {case}")
            cases.append(case)
    return cases


def find_java():
    """A JDK with javac, the newest by folder name."""
    homes = [home for home in pathlib.Path("/usr/lib/jvm").glob("*") if (home / "bin/javac").exists() and not home.is_symlink()]
    if not homes:
        raise Skip("no JDK on this machine")
    return max(homes, key=lambda home: [int(n) for n in re.findall(r"\d+", home.name)][:1])


def start_app(home, folder, app, **how):
    """A program of tests/apps, compiled into the folder, that has said that it is ready; lines are sent to it as text. `how`: for
    Popen."""
    subprocess.run([home / "bin/javac", "-d", folder, "-g", "-Xlint:-options", "--release", "8", SOURCE / f"tests/apps/{app}.java"],
                   check=True, stderr=subprocess.DEVNULL)
    started = subprocess.Popen([home / "bin/java", "-Xmx64m", "-cp", folder, app], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, text=True, **how)
    started.stdout.readline()
    return started


class Target:
    """What a case is run against; gone when the case is over."""

    def __init__(self, words, folder):
        self.process = None
        self.output = None
        self.must_live = True
        kind, *flags = words
        getattr(self, "start_" + kind.replace("-", "_"))(folder, flags)
        self.pid = self.process.pid

    def start_process(self, folder, _):
        self.process = subprocess.Popen(["sleep", "600"], preexec_fn=default_signals)

    def start_gone(self, folder, _):
        self.process = subprocess.Popen(["true"])
        self.process.wait()
        self.must_live = False

    def start_zombie(self, folder, _):
        self.process = subprocess.Popen(["true"])
        os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOWAIT)
        self.must_live = False

    def start_jvm(self, folder, flags):
        home = find_java()
        subprocess.run([home / "bin/javac", "-d", folder, "-Xlint:-options", "--release", "8", SOURCE / "tests/apps/Idle.java"],
                       check=True)
        os.chmod(folder, 0o755)
        self.output = tempfile.TemporaryFile()
        self.process = subprocess.Popen([home / "bin/java", "-Xmx64m", *flags, "-cp", folder, "Idle"], cwd=folder,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.output)
        if self.process.stdout.readline() != b"READY\n":
            sys.exit(f"the JVM did not start: {self.errors()}")

    def start_stopped_jvm(self, folder, flags):
        self.start_jvm(folder, flags)
        self.process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, self.process.pid, os.WSTOPPED | os.WNOWAIT)

    def errors(self):
        self.output.seek(0)
        return self.output.read().decode()

    def end(self):
        """What is wrong with it, after ending it."""
        faults = []
        if self.must_live and self.output is None:
            # A signal that kills takes effect a moment after kill(2) has returned.
            try:
                self.process.wait(timeout=0.2)
            except subprocess.TimeoutExpired:
                pass
        if self.must_live and self.process.poll() is not None:
            faults.append(f"the process it was run against has died: status {self.process.returncode}")
        elif self.must_live and self.output is not None:
            self.process.send_signal(signal.SIGCONT)
            said, _ = self.process.communicate(b"quit\n", timeout=60)
            if said or self.errors():
                faults.append(f"the JVM has printed: {said.decode()}{self.errors()}")
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        return faults


def default_signals():
    # A shell's background job ignores SIGQUIT, which would hide that it was sent.
    for number in (signal.SIGQUIT, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


def check_streams(case, out, err):
    faults = []
    for name, text in (("OUT", out), ("ERR", err)):
        lines = text.splitlines()
        faults += [f"no line of {name} contains: {want}" for want in case.get(name, [])
                   if not any(want in line for line in lines)]
        faults += [f"no line of {name} matches: {want}" for want in case.get(name + "~", [])
                   if not any(re.search(want, line) for line in lines)]
        if "NO-" + name in case and text:
            faults.append(f"{name} is not empty")
    return faults


def run_case(case, bin_folder):
    """The faults of one case, with its output after them."""
    with tempfile.TemporaryDirectory(prefix="jtrace-cli") as folder:
        if "AS" in case and os.geteuid() != 0:
            raise Skip("not root: cannot run as another user")
        target = Target(shlex.split(case["WITH"]), folder) if "WITH" in case else None
        places = {"bin": str(bin_folder), "tmp": folder, "source": str(SOURCE), "pid": str(target.pid) if target else ""}

        def fill(text):
            return re.sub(r"\{(bin|tmp|source|pid)\}", lambda match: places[match[1]], text)

        argv = [fill(word) for word in shlex.split(case["RUN"])]
        uid = int(case["AS"]) if "AS" in case else None
        start = time.monotonic()
        try:
            done = subprocess.run(argv, input=case.get("INPUT", "").replace("\\n", "\n").encode(), capture_output=True,
                                  timeout=60, user=uid, group=uid, cwd=folder if uid is None else "/")
            status, out, err = done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")
        except subprocess.TimeoutExpired as late:
            status, out, err = "none in 60 s", (late.stdout or b"").decode(), (late.stderr or b"").decode()
        took = (time.monotonic() - start) * 1000
        filled = {key: [fill(v) for v in value] if key in MANY else value for key, value in case.items()}
        faults = check_streams(filled, out, err)
        want = int(case.get("STATUS", 0))
        if status != want:
            faults.append(f"exit status {status}, not {want}")
        if want not in (0, 9) and "NO-ERR" not in case and len(err.splitlines()) != 1:
            faults.append(f"{len(err.splitlines())} lines on stderr, not one")
        if "WITHIN" in case and took > float(case["WITHIN"]):
            faults.append(f"took {took:.0f} ms, not {case['WITHIN']}")
        faults += [f"{path} exists" for path in filled.get("ABSENT", []) if os.path.exists(path)]
        if target is not None:
            faults += target.end()
    return faults + [f"  stdout: {out}", f"  stderr: {err}"] if faults else []


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", type=pathlib.Path, default=SOURCE / "build/bin")
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("word", nargs="?", default="")
    arguments = parser.parse_args()
    failed = skipped = 0
    for case in parse(arguments.file):
        name = case.get("NAME", case["RUN"])
        if arguments.word not in name:
            continue
        try:
            faults = run_case(case, arguments.bin.resolve())
        except Skip as reason:
            required = "live" in os.environ.get("JTRACE_REQUIRE", "").split(",")
            faults = [f"JTRACE_REQUIRE names live, but: {reason}"] if required else []
            skipped += not required
            print(f"skip  {name}: {reason}")
            if not required:
                continue
        failed += bool(faults)
        print("\n      ".join([("FAIL  " if faults else "ok    ") + name, *faults]))
    return 1 if failed else 77 if skipped else 0


if __name__ == "__main__":
    sys.exit(main())
