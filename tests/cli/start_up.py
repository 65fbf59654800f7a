#!/usr/bin/env python3
"""What it costs to start: start_up.py BIN [-n RUNS]

The processor time (user and system) of a command that has nothing to do, the least of many runs: what others take from a busy
machine is not in it, if there are enough of them: a command that is late gets some more. Two milliseconds at most: a command sets up
itself and no other, and an exception costs no sorting. jattach, where it is installed, is measured in the same run, and printed beside it.
"""
import os
import shutil
import sys

LIMIT_MS = 2.0
MORE = 200  # runs of a command that is late
CASES = [("jtrace", "--version"), ("jtrace", "--help"), ("jtrace", "list", "--help"), ("jtrace", "--no-such-option"),
         ("hsperf", "--version"), ("hsperf", "--help"), ("hsperf", "list", "--help")]


def cost(argv):
    quiet = [(os.POSIX_SPAWN_OPEN, fd, "/dev/null", os.O_WRONLY, 0) for fd in (1, 2)]
    pid = os.posix_spawn(argv[0], argv, os.environ, file_actions=quiet)
    _, _, usage = os.wait4(pid, 0)
    return (usage.ru_utime + usage.ru_stime) * 1000


def main(arguments):
    if not arguments:
        sys.exit(__doc__)
    runs = int(arguments[2]) if len(arguments) > 2 else 40
    peer = shutil.which("jattach")
    commands = [[os.path.join(arguments[0], case[0]), *case[1:]] for case in CASES] + ([[peer]] if peer else [])
    costs = {tuple(command): [] for command in commands}
    for _ in range(runs):
        for command in commands:
            costs[tuple(command)].append(cost(command))
    failed = False
    for command, all_costs in costs.items():
        for _ in range(MORE):
            if min(all_costs) <= LIMIT_MS:
                break
            all_costs.append(cost(command))
        all_costs.sort()
        late = all_costs[0] > LIMIT_MS and command[0] != peer
        failed |= late
        name = " ".join([os.path.basename(command[0]), *command[1:]])
        print(f"{'FAIL' if late else 'ok  '}  {name:26} least {all_costs[0]:.2f} ms, median {all_costs[len(all_costs) // 2]:.2f} ms of CPU")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
