#!/usr/bin/env python3
"""What holds for every tracked file: no path of one machine, no package host, formatted C++.

    check_tree.py hosts    paths of a machine and hosts of package registries
    check_tree.py format   clang-format 14 has nothing to change (skipped with status 77 where it is not there)
    check_tree.py size     source files stay readable: at most 800 lines
"""
import pathlib
import re
import shutil
import subprocess
import sys

TREE = pathlib.Path(__file__).resolve().parent.parent
# Written in pieces, so that this file passes its own check.
HOSTS = ["deb.debian" + ".org", "security.debian" + ".org", "archive.ubuntu" + ".com", "pypi" + ".org", "crates" + ".io",
         "registry.npmjs" + ".org", "proxy.golang" + ".org", "repo.maven.apache" + ".org", "repo1.maven" + ".org",
         "docker" + ".io", "ghcr" + ".io"]
PATHS = [r"(?<![\w.}])/" + "work/(main|shared|\\.)", r"(?<![\w.}])/" + r"home/[a-z]", r"/" + r"root/\.", r"\.\./" + "shared/",
         "/tmp/" + "build-"]
SKIP_77 = 77


def tracked(*patterns):
    # A checkout that belongs to another user is still only read here.
    git = shutil.which("git")
    listed = git and subprocess.run([git, "-c", "safe.directory=*", "ls-files", "-z", *patterns], cwd=TREE, capture_output=True)
    if not git or listed.returncode != 0:
        sys.stderr.write("check_tree: not a git checkout: nothing to list\n")
        sys.exit(SKIP_77)
    names = [name for name in listed.stdout.decode().split("\0") if name]
    return [TREE / name for name in names if (TREE / name).is_file()]


def check_hosts():
    pattern = re.compile("|".join([re.escape(host) for host in HOSTS] + PATHS))
    faults = []
    for file in tracked():
        try:
            text = file.read_text()
        except UnicodeDecodeError:
            continue  # a sample in bytes
        for number, line in enumerate(text.splitlines(), 1):
            match = pattern.search(line)
            if match:
                faults.append(f"{file.relative_to(TREE)}:{number}: names '{match[0]}'")
    return faults


def check_format():
    tool = shutil.which("clang-format-14")
    if tool is None:
        sys.stderr.write("check_tree: clang-format-14 is not there (scripts/setup installs it)\n")
        sys.exit(SKIP_77)
    done = subprocess.run([tool, "--dry-run", "-Werror", *map(str, tracked("*.h", "*.cpp"))], capture_output=True, text=True)
    lines = [line for line in done.stderr.splitlines() if "error:" in line]
    return sorted({line.split(":")[0] for line in lines}) if lines else ([done.stderr] if done.returncode else [])


def check_size():
    faults = []
    for file in tracked("*.h", "*.cpp", "*.java", "*.py", "scripts/*"):
        count = len(file.read_text().splitlines())
        if count > 800:
            faults.append(f"{file.relative_to(TREE)}: {count} lines")
    return faults


def main(arguments):
    checks = {"hosts": check_hosts, "format": check_format, "size": check_size}
    if len(arguments) != 1 or arguments[0] not in checks:
        sys.stderr.write(__doc__)
        return 2
    faults = checks[arguments[0]]()
    print("\n".join(faults) if faults else f"{arguments[0]}: nothing to complain of")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
