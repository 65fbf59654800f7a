#!/usr/bin/env python3
"""What it costs to start: start_up.py BIN [-n RUNS]

The processor time (user and system) of a command that has nothing to do, the least of many runs: what others take from a busy
machine is not in it, if there are enough of them: a command that is late gets some more. Two milliseconds more than `true`, which
is what this machine takes to start any process: a command sets up itself and no other, and an exception costs no sorting. Page
faults do not depend on the load: at most MOST_FAULTS more than those of `true`. jattach, where it is installed, is measured in
the same run, and printed beside it.
"""
import os
import shutil
import sys

LIMIT_MS = 2.0
MOST_FAULTS = 80
MORE = 200  # runs of a command that is late
CASES = [("jtrace", "--version"), ("jtrace", "--help"), ("jtrace", "list", "--help"), ("jtrace", "--no-such-option"),
         ("hsperf", "--version"), ("hsperf", "--help"), ("hsperf", "list", "--help")]


def cost(argv):
    """ms of processor time, page faults"""
    quiet = [(os.POSIX_SPAWN_OPEN, fd, "/dev/null", os.O_WRONLY, 0) for fd in (1, 2)]
    pid = os.posix_spawn(argv[0], argv, os.environ, file_actions=quiet)
    _, _, usage = os.wait4(pid, 0)
    return (usage.ru_utime + usage.ru_stime) * 1000, usage.ru_minflt


def measured(commands, runs):
    costs = {tuple(command): [] for command in commands}
    for _ in range(runs):
        for command in commands:
            costs[tuple(command)].append(cost(command))
    return costs


def least(costs):
    return min(ms for ms, _ in costs), min(faults for _, faults in costs)


def main(arguments):
    if not arguments:
        sys.exit(__doc__)
    runs = int(arguments[2]) if len(arguments) > 2 else 40
    floor = [shutil.which("true")]
    peers = [floor] + [[peer] for peer in [shutil.which("jattach")] if peer]
    ours = [[os.path.join(arguments[0], case[0]), *case[1:]] for case in CASES]
    costs = measured(ours + peers, runs)
    failed = False
    for command in ours + peers:
        own = costs[tuple(command)]
        for _ in range(MORE):
            floor_ms, floor_faults = least(costs[tuple(floor)])
            late = least(own)[0] > floor_ms + LIMIT_MS or least(own)[1] > floor_faults + MOST_FAULTS
            if not late or command in peers:
                break
            own.append(cost(command))
            costs[tuple(floor)].append(cost(floor))
        bad = late and command not in peers
        failed |= bad
        name = " ".join([os.path.basename(command[0]), *command[1:]])
        ms = sorted(ms for ms, _ in own)
        print(f"{'FAIL' if bad else 'ok  '}  {name:26} least {ms[0]:.2f} ms, median {ms[len(ms) // 2]:.2f} ms of CPU, "
              f"{least(own)[1]} page faults")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
