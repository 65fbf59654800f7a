#!/usr/bin/env python3
"""jtrace built for AArch64, tried on JVMs in an emulated machine; what it says is compared with what the JVM says itself.

    live_test.py FOLDER [REGEX]   FOLDER has jtrace and hsperf of AArch64; REGEX chooses JDKs (17, '2[15]'); default 17

live_guest.sh is what runs there. Exit status 77: there is no machine, or no such build (1 if JTRACE_REQUIRE names arm64).
"""
import os
import pathlib
import re
import shutil
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent.parent / "scripts")]
import arm64_machine  # noqa: E402
from cores_test import objects_of, threads_of, without_line  # noqa: E402

SECONDS_PER_JDK = 600
APPS = ["Exhibits", "Workload"]


class Results:
    """What the guest left in one JDK's folder, and what is wrong with it."""

    def __init__(self, folder):
        self.folder, self.faults = folder, []

    def text(self, name):
        file = self.folder / name
        return file.read_text(errors="replace") if file.exists() else ""

    def fault(self, text):
        self.faults.append(text)

    def check(self, name, good, what):
        if not good:
            self.fault(f"{name}: {what}")

    def worked(self, name, status="0"):
        found = self.text(name + ".status").strip()
        if found != status:
            self.fault(f"{name}: status {found or 'none'}: {(self.text(name + '.err') or self.text(name))[-300:].strip()}")
        return found == status


def check_list_and_cmd(results):
    results.worked("list")
    results.check("list", "Exhibits" in results.text("list"), "the JVM is not in it")
    results.worked("cmd")
    ours, theirs = results.text("cmd").split(), results.text("cmd.peer").split()
    # jattach prints a line of its own, and the status, before the answer.
    results.check("cmd", ours and " ".join(ours) in " ".join(theirs), f"{ours}, jattach has {theirs}")


def check_stack(results, name):
    if not results.worked(name):
        return
    ours, theirs = threads_of(results.text(name)), threads_of(results.text("threads.peer"))
    compared = 0
    for thread, (frames, waits) in theirs.items():
        if not frames:
            continue
        compared += 1
        found, found_waits = ours.get(thread, ([], set()))
        same = without_line(found) == without_line(frames) if thread == "spinner" else (found, found_waits) == (frames, waits)
        results.check(name, same, f"{thread}: {found} {found_waits}, the JVM has {frames} {waits}")
    results.check(name, compared >= 11, f"only {compared} threads have frames")
    for lack in re.findall(r"^.*(?:missing in|incomplete|not known).*$", results.text(name), re.M):
        results.fault(f"{name}: native frames: {lack.strip()}")


def check_heap(results):
    theirs = objects_of(results.text("histogram.peer")).get("Exhibits$Marker")
    for name in ("histogram", "heapdump.histogram"):
        if results.worked(name):
            ours = objects_of(results.text(name)).get("Exhibits$Marker")
            same = ours == theirs if name == "histogram" else ours and theirs and ours[0] == theirs[0]
            results.check(name, theirs and same, f"Exhibits$Marker {ours}, the JVM has {theirs}")


def elements(results, name, pattern):
    return len(re.findall(pattern, results.text(name + ".xml")))


def check_trace(results, name, expected):
    results.worked(name + ".said")
    results.worked(name + ".validate")
    for pattern, least in expected.items():
        count = elements(results, name, pattern)
        results.check(name, count >= least, f"{count} of {pattern}, at least {least} were made")


def check_traces(results):
    check_trace(results, "plain", {"<threadEnd ": 20, "<monContendedEntered ": 3, "<monWaited ": 3, "<gcFinish ": 2,
                                   r'<classDef [^>]*name="Workload\$Plugin"': 5})
    check_trace(results, "rewritten", {"<methodEntry ": 10, "<methodExit ": 10, "<throw ": 10, "<monWaited ": 3})
    answers = re.findall(r"^(?:OK|ERR).*$", results.text("said.workload"), re.M)
    results.check("Workload", answers and not any(answer.startswith("ERR") for answer in answers), f"it says {answers}")


def check_hsperf(results):
    if not results.worked("hsperf"):
        return
    theirs = re.search(r"(?:garbage-first|G1) *heap +total (?:reserved \d+K, committed )?(\d+)K", results.text("hsperf.peer"), re.I)
    columns = [line.split() for line in results.text("hsperf").splitlines() if line.strip()]
    row = dict(zip(columns[0], columns[-1])) if len(columns) > 1 else {}
    ours = sum(float(row.get(name, 0)) for name in ("S0C", "S1C", "EC", "OC"))
    results.check("hsperf", theirs and ours == float(theirs[1]), f"{ours} KiB of heap, the JVM has {theirs and theirs[1]}")


def check_probes(results):
    if "has no probes" in results.text("probes.err"):
        return  # Debian's JDK 8
    results.worked("probes")
    results.check("probes", "gc__begin" in results.text("probes"), "no gc__begin")
    worked = []
    for end in ("uprobe_multi", "perf_bpf", "perf"):
        if results.text(f"probe.{end}.status").strip() != "0":
            print(f"    probe by {end}: {results.text('probe.' + end).strip()[-200:]}")
            continue
        worked.append(end)
        check = {"<gcFinish ": 2, "<threadEnd ": 3}
        for pattern, least in check.items():
            count = elements(results, f"probe.{end}", pattern)
            results.check(f"probe by {end}", count >= least, f"{count} of {pattern}, at least {least} were made")
    results.check("probe", worked, "no back end works")


def check_profile(results):
    if results.worked("profile"):
        lines = [line for line in results.text("profile").splitlines() if "Exhibits" in line and "spin" in line]
        results.check("profile", lines, f"no stack of the spinner: {results.text('profile')[-300:]}")


def check_jdk(folder):
    results = Results(folder)
    check_list_and_cmd(results)
    check_stack(results, "stack")
    check_heap(results)
    results.worked("threads")
    results.worked("info")
    results.worked("core")
    check_stack(results, "core.stack")
    check_profile(results)
    check_traces(results)
    check_hsperf(results)
    check_probes(results)
    return results.faults


def why_not(built):
    if not (built / "jtrace").exists():
        return f"no jtrace of AArch64 in {built}: scripts/dev arm64 builds it"
    for tree in ("bookworm", "sid"):
        if not (arm64_machine.tree_of(tree) / ".complete").exists():
            return f"no tree {arm64_machine.tree_of(tree)}: scripts/arm64_machine.py {tree} makes it"
    if shutil.which("qemu-system-aarch64") is None:
        return "no qemu-system-aarch64: scripts/setup --arch arm64 installs it"
    return None


def run_machine(built, regex):
    """Returns the folder of each JDK that was tried."""
    exchange = arm64_machine.WHERE / "live"
    shutil.rmtree(exchange, ignore_errors=True)
    exchange.mkdir(parents=True)
    for tool in ("jtrace", "hsperf"):
        shutil.copy(built / tool, exchange)
    arm64_machine.run(["javac", "-nowarn", "-source", "8", "-target", "8", "-Xlint:-options", "-d", exchange,
                       *(HERE.parent / "apps" / f"{app}.java" for app in APPS)])
    trees = [arm64_machine.tree_of(name) for name in ("bookworm", "sid")]
    script, folders = (HERE / "live_guest.sh").read_text(), []
    for letter, tree in zip("ab", trees):
        for jdk, home in sorted(arm64_machine.homes(tree).items()):
            if re.fullmatch(regex, str(jdk)):
                script += f"one /t/{letter} {home} {jdk}\n"
                folders.append(exchange / str(jdk))
    (exchange / "run.sh").write_text(script)
    if folders:
        arm64_machine.boot(trees, exchange, 60 + SECONDS_PER_JDK * len(folders))
    return folders


def main(built, regex):
    reason = why_not(built)
    if reason:
        print(reason)
        return 1 if "arm64" in os.environ.get("JTRACE_REQUIRE", "").split(",") else 77
    started = time.monotonic()
    folders = run_machine(built, regex)
    print(f"the machine ran for {time.monotonic() - started:.0f} s")
    failed = not folders
    for folder in folders:
        faults = check_jdk(folder)
        print(f"JDK {folder.name}: " + ("as the JVM says" if not faults else "") + "".join(f"\n    {fault}" for fault in faults))
        failed = failed or bool(faults)
    return 1 if failed else 0


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    sys.exit(main(pathlib.Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "17"))
