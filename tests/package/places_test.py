#!/usr/bin/env python3
"""The commands of docs/install.md in places made like containers: places_test.py BUILD

A JVM lives in namespaces of its own (mount, pid, ipc, network) and in a root with nothing but a JDK and the libraries that it
names; jtrace looks in from the host, and from a second such container whose root has the two programs and which shares the pid
namespace only, as `docker run --pid=container:APP` and `kubectl debug --target` make it. Capabilities are Docker's. Needs root
and a JDK; exit status 77 without.
"""
import ctypes
import os
import pathlib
import re
import select
import shutil
import subprocess
import sys
import tempfile

TREE = pathlib.Path(__file__).resolve().parent.parent.parent
LIBC = ctypes.CDLL(None, use_errno=True)
USER = 1000
NEWNS, NEWIPC, NEWUSER, NEWPID, NEWNET = 0x00020000, 0x08000000, 0x10000000, 0x20000000, 0x40000000
# What Docker gives a container's root: the names are capabilities(7)'s.
CHOWN, DAC_OVERRIDE, FOWNER, FSETID, KILL, SETGID, SETUID, SETPCAP, NET_BIND, NET_RAW, CHROOT, PTRACE, MKNOD, AUDIT, SETFCAP = (
    0, 1, 3, 4, 5, 6, 7, 8, 10, 13, 18, 19, 27, 29, 31)
DOCKER = {CHOWN, DAC_OVERRIDE, FOWNER, FSETID, KILL, SETGID, SETUID, SETPCAP, NET_BIND, NET_RAW, CHROOT, MKNOD, AUDIT, SETFCAP}
faults = []


def expect(truth, what, said=""):
    print(("ok    " if truth else "FAIL  ") + what + ("" if truth else ": " + said.strip()[:400]), flush=True)
    if not truth:
        faults.append(what)


def skip(reason):
    print("skip:", reason)
    sys.exit(77)


def done(result):
    if result != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def mount(kind, target, flags=0, data="", source="none"):
    done(LIBC.mount(str(source).encode(), str(target).encode(), kind.encode(), flags, data.encode()))


class Place:
    """Where a container's program runs: its root, user, capabilities, and whose pid namespace it shares (None: its own)."""

    def __init__(self, root, user, capabilities=DOCKER, beside=None, read_only=False, tmp=True, shm="64m"):
        self.root, self.user, self.capabilities, self.beside = root, user, capabilities, beside
        self.read_only, self.tmp, self.shm = read_only, tmp, shm

    def enter(self):
        """In the child, before it executes."""
        LIBC.prctl(1, 9)  # PR_SET_PDEATHSIG
        if self.beside:
            done(LIBC.setns(os.open(f"/proc/{self.beside}/ns/pid", os.O_RDONLY), NEWPID))
            done(LIBC.unshare(NEWNS | NEWIPC | NEWNET))
        else:
            done(LIBC.unshare(NEWNS | NEWIPC | NEWNET | NEWPID))
        child = os.fork()
        if child:
            os.closerange(3, 1024)
            _, status = os.waitpid(child, 0)
            os._exit(os.waitstatus_to_exitcode(status) & 255)
        LIBC.prctl(1, 9)
        self.furnish()
        os.chroot(self.root)
        os.chdir("/")
        for number in range(64):
            if number not in self.capabilities:
                LIBC.prctl(24, number, 0, 0, 0)  # PR_CAPBSET_DROP
        if self.user:
            os.setgroups([])
            os.setgid(self.user)
            os.setuid(self.user)

    def furnish(self):
        mount("", "/", 1 << 18 | 1 << 14)  # MS_PRIVATE | MS_REC
        mount("", self.root, 4096, source=self.root)  # MS_BIND
        if self.tmp:
            mount("tmpfs", f"{self.root}/tmp", 0, "mode=1777,size=64m")
        mount("proc", f"{self.root}/proc")
        mount("tmpfs", f"{self.root}/dev", 0, "mode=755")
        for name, minor in (("null", 3), ("zero", 5), ("random", 8), ("urandom", 9)):
            os.mknod(f"{self.root}/dev/{name}", 0o666 | 0o020000, os.makedev(1, minor))
            os.chmod(f"{self.root}/dev/{name}", 0o666)
        if self.shm:
            os.mkdir(f"{self.root}/dev/shm")
            mount("tmpfs", f"{self.root}/dev/shm", 0, f"mode=1777,size={self.shm}")
        if self.read_only:
            mount("", f"{self.root}/dev", 4096 | 32 | 1)  # MS_BIND | MS_REMOUNT | MS_RDONLY
            mount("", self.root, 4096 | 32 | 1)

    def run(self, *words):
        return subprocess.run([*words], capture_output=True, timeout=300, text=True, env={"PATH": "/usr/bin"}, preexec_fn=self.enter)


def pid_inside(outer):
    """The JVM is the child of the process that Popen knows; as the host sees it."""
    return pathlib.Path(f"/proc/{outer}/task/{outer}/children").read_text().split()[0]


class Jvm:
    def __init__(self, place, java, *flags):
        self.process = subprocess.Popen([java, "-Xmx64m", *flags, "-cp", "/app", "Idle"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, preexec_fn=place.enter, env={})
        line = self.process.stdout.readline()
        if line != b"READY\n":
            raise RuntimeError(f"the JVM did not start: {line} {self.process.stderr.read1(400)}")
        self.pid = pid_inside(self.process.pid)

    def end(self, name):
        quiet = not select.select([self.process.stderr], [], [], 0)[0]
        try:
            self.process.communicate(b"quit\n", timeout=60)
        except subprocess.TimeoutExpired:
            self.process.kill()
        expect(self.process.returncode == 0 and quiet, f"{name}: the JVM lived on and printed nothing")


def host(*words):
    return subprocess.run([str(word) for word in words], capture_output=True, timeout=300, text=True)


def said_no(ran):
    """One line at the end of what was done before, and no status of a crash. What a killed jtrace of another test has left is
    named by the next attach, and is not this one's."""
    lines = [line for line in ran.stderr.splitlines() if " MiB are taken" not in line and "an earlier jtrace left" not in line]
    return ran.returncode in (4, 5) and len(lines) == 1


def looks(name, run, pid, stack=True, attach=True):
    """list, attach, stack, hsperf stat; what cannot work says so in one line."""
    listed = run("jtrace", "list")
    expect(re.search(rf"^ *{pid} .*Idle", listed.stdout, re.M), f"{name}: list", listed.stdout + listed.stderr)
    traced = run("jtrace", "attach", pid, "--duration", "0.3", "-o", "-")
    works = traced.returncode == 0 and "<traceStart" in traced.stdout
    expect(works if attach else said_no(traced), f"{name}: attach {'works' if attach else 'is refused'}", traced.stderr)
    stacks = run("jtrace", "stack", pid)
    works = stacks.returncode in (0, 9) and '"main"' in stacks.stdout
    expect(works if stack else said_no(stacks), f"{name}: stack {'works' if stack else 'is refused'}", stacks.stderr)
    counters = run("hsperf", "stat", "-gcutil", pid)
    works = counters.returncode == 0 and "YGCT" in counters.stdout
    expect(works if stack else said_no(counters), f"{name}: hsperf stat {'works' if stack else 'is refused'}", counters.stderr)


def yama():
    path = pathlib.Path("/proc/sys/kernel/yama/ptrace_scope")
    return int(path.read_text()) if path.exists() else 0


def try_target(tools, bin, name, target, java):
    """One JVM, from the host and from beside it."""
    jvm = Jvm(target, java, "-XX:+IgnoreUnrecognizedVMOptions", "-XX:+EnableDynamicAgentLoading")
    attach = target.tmp or not target.read_only  # HotSpot's socket is in its /tmp
    try:
        looks(f"{name}, from the host", lambda *words: host(bin / words[0], *words[1:]), jvm.pid, attach=attach)

        def beside(user, capabilities, **more):
            place = Place(tools, user, capabilities, beside=jvm.pid, tmp=False, **more)
            return lambda program, *words: place.run(f"/usr/bin/{program}", *words)
        looks(f"{name}, --user {USER} --cap-add SYS_PTRACE", beside(USER, DOCKER | {PTRACE}), "1", stack=yama() == 0, attach=attach)
        looks(f"{name}, --user {USER}, all dropped", beside(USER, set(), read_only=True), "1", stack=yama() == 0, attach=attach)
        looks(f"{name}, --user 0 --cap-add SYS_PTRACE", beside(0, DOCKER | {PTRACE}), "1", attach=attach)
        looks(f"{name}, another user", beside(USER + 1, DOCKER), "1", stack=False, attach=False)
    finally:
        jvm.end(name)


def make_root(folder, home):
    """A JDK and the libraries that its programs name; no shell, no other program, no passwd."""
    root = folder / "app"
    for part in ("proc", "dev", "tmp", "app"):
        (root / part).mkdir(parents=True)
    java = root / home.relative_to("/")
    shutil.copytree(home, java, symlinks=False, ignore_dangling_symlinks=True,
                    ignore=shutil.ignore_patterns("jmods", "src.zip", "legal", "man", "include", "docs", "demo", "*.diz", "classes*.jsa"))
    named = set()
    for binary in [java / "bin/java", *java.rglob("*.so")]:
        named.update(re.findall(r"(/\S+\.so\S*) \(", host("ldd", binary).stdout))
    for library in sorted(path for path in named if not path.startswith(str(root))):
        (root / library[1:]).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(library, root / library[1:])
    return root


def rootless(bin, classes, java):
    """`podman unshare jtrace`: as root of a user namespace that an ordinary user made, and the JVM lives in."""
    def become():
        LIBC.prctl(1, 9)
        os.setgroups([])
        os.setgid(USER)
        os.setuid(USER)
        LIBC.prctl(4, 1)  # PR_SET_DUMPABLE
        done(LIBC.unshare(NEWUSER | NEWNS))
        pathlib.Path("/proc/self/setgroups").write_text("deny")
        pathlib.Path("/proc/self/uid_map").write_text(f"0 {USER} 1")
        pathlib.Path("/proc/self/gid_map").write_text(f"0 {USER} 1")
    process = subprocess.Popen([java, "-Xmx64m", "-XX:+IgnoreUnrecognizedVMOptions", "-XX:+EnableDynamicAgentLoading", "-cp", classes, "Idle"],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, preexec_fn=become, cwd="/")
    try:
        expect(process.stdout.readline() == b"READY\n", "rootless: a JVM of a user namespace")

        def join():
            names = os.open(f"/proc/{process.pid}/ns/user", os.O_RDONLY)
            mounts = os.open(f"/proc/{process.pid}/ns/mnt", os.O_RDONLY)
            os.setgroups([])
            os.setgid(USER)
            os.setuid(USER)
            done(LIBC.setns(names, NEWUSER))
            done(LIBC.setns(mounts, NEWNS))
        looks("rootless, podman unshare", lambda program, *words: subprocess.run([bin / program, *words], capture_output=True, text=True,
                                                                                  timeout=300, preexec_fn=join), str(process.pid))
    finally:
        process.communicate(b"quit\n", timeout=60)
        expect(process.returncode == 0, "rootless: the JVM lived on")


def test(folder, bin):
    homes = [home for home in pathlib.Path("/usr/lib/jvm").glob("*") if (home / "bin/javac").exists() and not home.is_symlink()]
    if not homes:
        skip("no JDK")
    home = max(homes, key=lambda path: [int(number) for number in re.findall(r"\d+", path.name)][:1])
    root = make_root(folder, home)
    subprocess.run([home / "bin/javac", "-d", root / "app", "-Xlint:-options", "--release", "8", TREE / "tests/apps/Idle.java"], check=True)
    tools = folder / "tools"
    for part in ("proc", "dev", "usr/bin"):
        (tools / part).mkdir(parents=True)
    for program in ("jtrace", "hsperf"):
        shutil.copy(bin / program, tools / "usr/bin" / program)
    java = str(home / "bin/java")
    try_target(tools, bin, "nothing but a JDK", Place(root, USER), java)
    try_target(tools, bin, "read-only root", Place(root, USER, read_only=True), java)
    (root / "tmp").rmdir()
    try_target(tools, bin, "read-only root without /tmp", Place(root, USER, read_only=True, tmp=False), java)
    rootless(bin, root / "app", java)


def main(arguments):
    if len(arguments) != 1:
        sys.exit(__doc__)
    if os.geteuid() != 0:
        skip("not root")
    if LIBC.unshare(NEWNS) != 0:  # no mount of ours outlives us
        skip("no namespaces: " + os.strerror(ctypes.get_errno()))
    folder = pathlib.Path(tempfile.mkdtemp(prefix="jtrace-places-"))
    os.chmod(folder, 0o755)
    try:
        test(folder, pathlib.Path(arguments[0]).resolve() / "bin")
    finally:
        shutil.rmtree(folder)
    print("\n".join(f"FAIL  {fault}" for fault in faults) or "works in all places")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
