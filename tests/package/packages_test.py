#!/usr/bin/env python3
"""Makes the packages of a build and tries each in a bare tree: packages_test.py BUILD

The tree has nothing but what the package brings, /proc and /dev: no shell, no libc, no JDK. In it: jtrace list, attach to a JVM
outside of it and to one inside (whose JDK is mounted for that one alone), stack, hsperf stat, and a service with its two
capabilities; with jtrace-fleet (whose libraries are mounted for it) a trace goes through a nats-server. The packages are made twice and compared. Removing a package leaves nothing. Needs root, and Debian's and rpm's
tools; exit status 77 without.
"""
import filecmp
import os
import pathlib
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
import urllib.request

TREE = pathlib.Path(__file__).resolve().parent.parent.parent
OTHER = 65534  # a user that is not root
faults = []


def skip(reason):
    print("skip:", reason)
    sys.exit(77)


def expect(truth, what):
    print(("ok    " if truth else "FAIL  ") + what)
    if not truth:
        faults.append(what)


def run(argv, timeout=300, **more):
    return subprocess.run([str(word) for word in argv], capture_output=True, text=True, timeout=timeout, **more)


def home_with_javac():
    homes = [home for home in pathlib.Path("/usr/lib/jvm").glob("*") if (home / "bin/javac").exists() and not home.is_symlink()]
    return max(homes, key=lambda home: [int(n) for n in re.findall(r"\d+", home.name)][:1]) if homes else skip("no JDK")


class Jvm:
    """Idle, started outside, or inside of a bare tree."""

    def __init__(self, java, classes, root=None):
        prefix = ["chroot", str(root)] if root else []
        self.process = subprocess.Popen([*prefix, str(java), "-Xmx64m", "-cp", str(classes), "Idle"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        if self.process.stdout.readline() != b"READY\n":
            raise RuntimeError("the JVM did not start")
        self.pid = str(self.process.pid)

    def end(self):
        try:
            self.process.communicate(b"quit\n", timeout=60)
        except subprocess.TimeoutExpired:
            self.process.kill()
        return self.process.returncode


def files_of(root):
    return sorted(str(path.relative_to(root)) for path in root.rglob("*") if not path.is_dir() or path.is_symlink())


def mount(*words):
    subprocess.run(["mount", *map(str, words)], check=True)


def try_program(kind, root, prefix, jvm, where):
    """What a newcomer does first, with nothing around the program."""
    def inside(*words):
        return run([shutil.which("chroot"), root, f"{prefix}/bin/{words[0]}", *words[1:]], env={"PATH": "/usr/bin"})
    listed = inside("jtrace", "list")
    expect(re.search(rf"^ *{jvm.pid} .*Idle", listed.stdout, re.M), f"{kind}: list has the JVM {where}")
    traced = inside("jtrace", "attach", jvm.pid, "-o", "-", "--duration", "0.5")
    expect(traced.returncode == 0 and "<traceStart" in traced.stdout, f"{kind}: attach to the JVM {where}: {traced.stderr.strip()[:200]}")
    stack = inside("jtrace", "stack", jvm.pid)
    expect(stack.returncode in (0, 9) and '"main"' in stack.stdout, f"{kind}: stack of the JVM {where}: {stack.stderr.strip()[:200]}")
    stat = inside("hsperf", "stat", "-gcutil", jvm.pid)
    expect(stat.returncode == 0 and "YGCT" in stat.stdout, f"{kind}: hsperf stat of the JVM {where}")


def try_service(root, jvm, other):
    """The unit's capabilities and no others, for JVMs of root and of another user."""
    service = subprocess.Popen([shutil.which("chroot"), root, "/usr/bin/hsperf", "serve", "--listen", "127.0.0.1:0"],
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                               preexec_fn=keep_two_capabilities_after_chroot)
    try:
        port = re.search(r":(\d+)", service.stdout.readline())[1]
        text = urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=30).read().decode()
        expect(f'pid="{jvm.pid}"' in text, "service: the counters of root's JVM")
        expect(f'pid="{other.pid}"' in text, "service: the counters of another user's JVM")
    finally:
        service.send_signal(signal.SIGTERM)
        service.wait(30)


def keep_two_capabilities_after_chroot():
    """chroot(8) needs CAP_SYS_CHROOT once, and the service may not have it: the bounding set holds for what it executes."""
    import ctypes
    libc = ctypes.CDLL(None)
    for number in range(64):
        if number not in (2, 19, 18):  # DAC_READ_SEARCH, SYS_PTRACE; SYS_CHROOT for chroot(8) alone
            libc.prctl(24, number, 0, 0, 0)  # PR_CAPBSET_DROP
    libc.prctl(38, 1, 0, 0, 0)  # PR_SET_NO_NEW_PRIVS


def try_same_user(kind, root, jvm, where):
    """As the JVM's own user and with no capability, as an ephemeral container that shares the pid namespace has it."""
    def become():
        os.chroot(root)
        os.chdir("/")
        os.setgroups([])
        os.setgid(OTHER)
        os.setuid(OTHER)

    def inside(*words):
        return run(words, env={"PATH": "/usr/bin"}, preexec_fn=become)
    listed = inside("/usr/bin/jtrace", "list")
    expect(re.search(rf"^ *{jvm.pid} .*Idle", listed.stdout, re.M), f"{kind}: {where}: list")
    traced = inside("/usr/bin/jtrace", "attach", jvm.pid, "-o", "-", "--duration", "0.5", "--ring-memory", "8M")
    expect(traced.returncode == 0 and "<traceStart" in traced.stdout, f"{kind}: {where}: attach: {traced.stderr.strip()[:300]}")
    stat = inside("/usr/bin/hsperf", "stat", "-gcutil", jvm.pid)
    expect(stat.returncode == 0 and "YGCT" in stat.stdout, f"{kind}: {where}: hsperf stat: {stat.stderr.strip()[:200]}")
    stack = inside("/usr/bin/jtrace", "stack", jvm.pid)
    said = stack.returncode in (0, 9) and '"main"' in stack.stdout or stack.returncode == 5 and len(stack.stderr.splitlines()) == 1
    expect(said, f"{kind}: {where}: stack works or says in one line why not: {stack.stderr.strip()[:300]}")


def bare(folder, name):
    root = folder / name
    for part in ("proc", "dev", "tmp"):
        (root / part).mkdir(parents=True)
    os.chmod(root / "tmp", 0o1777)
    mount("-t", "proc", "proc", root / "proc")
    # A /dev of its own: nothing of this machine's can be removed by removing the tree.
    mount("-t", "tmpfs", "tmpfs", root / "dev")
    for name, minor in (("null", 3), ("zero", 5), ("full", 7), ("random", 8), ("urandom", 9)):
        os.mknod(root / "dev" / name, 0o666 | stat.S_IFCHR, os.makedev(1, minor))
        os.chmod(root / "dev" / name, 0o666)
    (root / "dev/shm").mkdir()
    os.chmod(root / "dev/shm", 0o1777)
    return root


def unmount_all(folder):
    """Whatever is still mounted below the folder; true when nothing is left."""
    def points():
        lines = pathlib.Path("/proc/self/mountinfo").read_text().splitlines()
        return [line.split()[4].encode().decode("unicode_escape") for line in lines]
    for point in reversed([point for point in points() if point.startswith(str(folder) + "/")]):
        subprocess.run(["umount", "-l", point], check=False)
    return not any(point.startswith(str(folder) + "/") for point in points())


def without_mounts(root):
    for part in ("proc", "dev"):
        subprocess.run(["umount", "-R", root / part], check=False)
        (root / part).rmdir()
    shutil.rmtree(root / "tmp")


def try_inside(kind, root, prefix, classes, home):
    """A JVM that lives in the same tree: its JDK and libraries are mounted there, for this one moment."""
    places = [str(home), *(place for place in ("/lib64", "/usr/lib/x86_64-linux-gnu", "/lib/x86_64-linux-gnu", "/etc/java-17-openjdk")
                           if os.path.isdir(place))]
    mounted = []
    for place in places:
        target = root / place[1:]
        if target.exists():
            continue
        target.mkdir(parents=True)
        mount("--bind", "-o", "ro", os.path.realpath(place), target)
        mounted.append(target)
    shutil.copytree(classes, root / "tmp/classes")
    jvm = Jvm(home / "bin/java", "/tmp/classes", root)
    try:
        try_program(kind, root, prefix, jvm, "inside")
    finally:
        expect(jvm.end() == 0, f"{kind}: the JVM inside lived on")
        for target in reversed(mounted):
            subprocess.run(["umount", target], check=False)
            os.removedirs(target)


def dpkg(root, *words):
    return run(["dpkg", f"--root={root}", "--force-script-chrootless,not-root,bad-path", "--log=/dev/null", *words])


def install_deb(package, root):
    admin = root / "var/lib/dpkg"
    for part in ("info", "updates", "triggers"):
        (admin / part).mkdir(parents=True)
    for file in ("status", "available"):
        (admin / file).touch()
    return dpkg(root, "-i", package)


def check_readme(kind, doc):
    """What the README and the pages link to is in the package."""
    text = (doc / "README.md").read_text()
    named = re.findall(r"\]\(([^)#:]+)\)", text) + re.findall(r"`((?:docs/)?[\w/]+[.]md)`", text)
    for page in [*doc.glob("*.md"), *doc.glob("reference/*.md")]:
        named += [os.path.relpath(page.parent / link, doc) for link in re.findall(r"\]\(([^)#:]+)\)", page.read_text())]
    missing = sorted({name for name in named if name != "CONTRIBUTING.md" and not (doc / name).is_file()})
    expect(named and not missing, f"{kind}: what README and pages refer to is there: {missing}")


def test_deb(folder, package, jvm, other, classes, home):
    root = bare(folder, "deb")
    before = files_of(root / "tmp")
    done = install_deb(package, root)
    expect(done.returncode == 0, f"deb: installs: {done.stderr.strip()[-300:]}")
    for path in ("usr/bin/jtrace", "usr/bin/hsperf", "usr/lib/jtrace/libjtrace_agent.so", "usr/share/jtrace/jtrace.dtd",
                 "usr/share/jtrace/hsperf-otel.json", "usr/share/jtrace/hsperf.yml", "usr/share/jtrace/hsperf-targets.json",
                 "usr/share/man/man1/jtrace-attach.1.gz", "usr/share/bash-completion/completions/jtrace",
                 "lib/systemd/system/hsperf.service", "usr/share/doc/jtrace/THIRD_PARTY", "usr/share/doc/jtrace/copyright"):
        expect((root / path).is_file(), f"deb: has {path}")
    check_readme("deb", root / "usr/share/doc/jtrace")
    try_program("deb", root, "/usr", jvm, "outside")
    try_service(root, jvm, other)
    try_inside("deb", root, "/usr", classes, home)
    done = dpkg(root, "-P", "jtrace")
    expect(done.returncode == 0, f"deb: is removed: {done.stderr.strip()[-300:]}")
    shutil.rmtree(root / "var")
    without_mounts(root)
    left = files_of(root)
    expect(not left and not before, f"deb: nothing is left: {left[:5]}")
    ask_lintian("deb", package)


def ask_lintian(kind, package):
    if shutil.which("lintian"):
        said = run(["lintian", "--no-cfg", "--allow-root", "--fail-on", "error,warning", package])
        expect(said.returncode == 0 and not said.stdout.strip(), f"{kind}: lintian has nothing to say: {said.stdout[:1500]}")


def url_of(server, folder):
    """The server writes the file with its port a moment after it has said that it is ready."""
    for _ in range(600):
        for ports in folder.glob("*.ports"):
            if address := re.search(r"127\.0\.0\.1:(\d+)", ports.read_text()):
                return "nats://127.0.0.1:" + address[1]
        if server.poll() is not None:
            break
        time.sleep(0.1)
    raise RuntimeError(f"nats-server said no port: {server.returncode}")


def through_a_server(folder, inside):
    """A trace is shipped to a nats-server on loopback, and collected."""
    (folder / "ports").mkdir()
    server = subprocess.Popen(["nats-server", "-a", "127.0.0.1", "-p", "-1", "-js", "-sd", folder / "streams", "--ports_file_dir", folder / "ports"],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, text=True)
    try:
        url = url_of(server, folder / "ports")
        inside("collect", url, "-o", "/tmp/out", "--create", "--until-idle", "1ms")
        sent = inside("ship", "/tmp/t.xml", url, "--spool", "/tmp/spool")
        expect(sent.returncode == 0 and "acknowledged" in sent.stderr, f"fleet: ship: {sent.stderr.strip()[:300]}")
        got = inside("collect", url, "-o", "/tmp/out", "--until-idle", "1s")
        expect(got.returncode == 0 and "1 trace complete" in got.stderr, f"fleet: collect: {got.stderr.strip()[:300]}")
    finally:
        server.terminate()
        server.communicate(timeout=30)


def test_fleet(folder, package, jtrace, jvm):
    """The package that is not static: installed beside jtrace, with the libraries that it names."""
    needs = run(["dpkg-deb", "-f", package, "Depends"]).stdout
    expect(re.search(r"jtrace \(= .*libc6 \(>= .*libnats", needs), f"fleet: says what it needs: {needs.strip()}")
    root = bare(folder, "fleet")
    install_deb(jtrace, root)
    done = dpkg(root, "--force-depends", "-i", package)
    expect(done.returncode == 0, f"fleet: installs: {done.stderr.strip()[-300:]}")
    expect((root / "usr/share/man/man1/jtrace-fleet.1.gz").is_file(), "fleet: has a man page")

    def inside(*words):
        return run([shutil.which("chroot"), root, "/usr/bin/jtrace", *words], env={"PATH": "/usr/bin"})
    mounted = []
    for place in ("/lib64", "/usr/lib/x86_64-linux-gnu", "/lib/x86_64-linux-gnu"):
        if os.path.isdir(place) and not (root / place[1:]).exists():
            (root / place[1:]).mkdir(parents=True)
            mount("--bind", "-o", "ro", os.path.realpath(place), root / place[1:])
            mounted.append(root / place[1:])
    said = run([shutil.which("chroot"), root, "/usr/bin/jtrace-fleet", "--version"])
    expect(said.returncode == 0 and "libnats" in said.stdout, f"fleet: says its version: {said.stderr.strip()[:200]}")
    inside("attach", jvm.pid, "-o", "/tmp/t.xml", "--duration", "0.3")
    if shutil.which("nats-server"):
        through_a_server(root / "tmp", inside)
    for target in reversed(mounted):
        subprocess.run(["umount", target], check=False)
        os.removedirs(target)
    done = dpkg(root, "-P", "jtrace-fleet", "jtrace")
    expect(done.returncode == 0, f"fleet: is removed: {done.stderr.strip()[-300:]}")
    shutil.rmtree(root / "var")
    without_mounts(root)
    expect(not files_of(root), f"fleet: nothing is left: {files_of(root)[:5]}")
    ask_lintian("fleet", package)


def test_rpm(folder, package, jvm):
    root = bare(folder, "rpm")
    words = ["rpm", "--root", root, "--nosignature", "--define", "_dbpath /var/lib/rpm"]
    done = run([*words, "-i", package])
    expect(done.returncode == 0, f"rpm: installs: {done.stderr.strip()[-300:]}")
    check_readme("rpm", root / "usr/share/doc/jtrace")
    try_program("rpm", root, "/usr", jvm, "outside")
    done = run([*words, "-e", "jtrace"])
    expect(done.returncode == 0, f"rpm: is removed: {done.stderr.strip()[-300:]}")
    shutil.rmtree(root / "var")
    without_mounts(root)
    expect(not files_of(root), f"rpm: nothing is left: {files_of(root)[:5]}")


def test_tarball(folder, package, jvm):
    root = bare(folder, "tar")
    run(["tar", "-C", root, "-xzf", package])
    (inner,) = [path for path in root.iterdir() if path.name.startswith("jtrace-")]
    check_readme("tarball", inner / "share/doc/jtrace")
    try_program("tarball", root, "/" + inner.name, jvm, "outside")
    expect((inner / "share/doc/jtrace/LGPL-2.1").is_file(), "tarball: has the licences")
    shutil.rmtree(inner)
    without_mounts(root)
    expect(not files_of(root), "tarball: nothing is left")


def test_image(folder, package, jvm, other):
    import json
    layout = folder / "layout"
    layout.mkdir()
    run(["tar", "-C", layout, "-xf", package])

    def blob(entry):
        return layout / "blobs/sha256" / entry["digest"].partition(":")[2]
    index = json.loads((layout / "index.json").read_text())
    manifest = json.loads(blob(index["manifests"][0]).read_text())
    config = json.loads(blob(manifest["config"]).read_text())
    expect(config["config"]["Entrypoint"] == ["/usr/bin/jtrace"], "image: its entry point is jtrace")
    root = bare(folder, "image")
    for entry in manifest["layers"]:
        run(["tar", "-C", root, "-xzf", blob(entry)])
    try_program("image", root, "/usr", jvm, "outside")
    if shutil.which("umoci"):
        said = run(["umoci", "stat", "--image", f"{layout}:{index['manifests'][0]['annotations']['org.opencontainers.image.ref.name']}"])
        expect(said.returncode == 0, f"image: umoci reads it: {said.stderr.strip()[-200:]}")
    try_same_user("image", root, other, "same user, no capability")
    shutil.rmtree(root / "tmp")
    mount("--rbind", root, root)
    mount("-o", "remount,bind,ro", root)
    try_same_user("image", root, other, "read-only root without /tmp")
    try_program("image", root, "/usr", jvm, "outside, from a read-only root without /tmp")
    subprocess.run(["umount", "-R", root], check=False)
    (root / "tmp").mkdir()
    without_mounts(root)


def compare(first, second, has_fleet):
    names = sorted(path.name for path in first.iterdir())
    expect(names == sorted(path.name for path in second.iterdir()) and len(names) == 5 + has_fleet,
           f"there are the packages and their sums: {names}")
    for name in names:
        expect(filecmp.cmp(first / name, second / name, shallow=False), f"the same bytes again: {name}")


def test_all(folder, build, home):
    for part in ("one", "two"):
        done = run([TREE / "scripts/package", "--from", build, "--to", folder / part], timeout=800)
        if done.returncode != 0:
            sys.exit(f"scripts/package: {done.stdout}{done.stderr}")
    print(done.stdout.rstrip())
    has_fleet = os.access(pathlib.Path(build) / "bin/jtrace-fleet", os.X_OK)
    compare(folder / "one", folder / "two", has_fleet)
    classes = folder / "classes"
    subprocess.run([home / "bin/javac", "-d", classes, "-Xlint:-options", "--release", "8", TREE / "tests/apps/Idle.java"], check=True)
    jvm = Jvm(home / "bin/java", classes)
    other = OtherJvm(home / "bin/java", classes)
    try:
        packages = {path.suffix if path.suffix != ".gz" else ".tar.gz": path for path in (folder / "one").iterdir()
                    if path.suffix and not path.name.startswith("jtrace-fleet")}
        test_deb(folder, packages[".deb"], jvm, other, classes, home)
        if has_fleet:
            test_fleet(folder, next((folder / "one").glob("jtrace-fleet_*.deb")), packages[".deb"], jvm)
        test_rpm(folder, packages[".rpm"], jvm)
        test_tarball(folder, packages[".tar.gz"], jvm)
        test_image(folder, packages[".tar"], jvm, other)
    finally:
        expect(jvm.end() == 0, "the JVM outside lived on")
        other.end()


def main(arguments):
    if len(arguments) != 1:
        sys.exit(__doc__)
    if os.geteuid() != 0:
        skip("not root")
    for tool in ("dpkg", "dpkg-deb", "rpmbuild", "unshare"):
        if shutil.which(tool) is None:
            skip(f"{tool} is missing: scripts/setup package installs it")
    if not os.environ.get("JTRACE_UNSHARED"):  # no mount of ours outlives us
        os.execvpe("unshare", ["unshare", "--mount", "--propagation", "private", sys.executable, __file__, *arguments],
                   {**os.environ, "JTRACE_UNSHARED": "1"})
    folder = pathlib.Path(tempfile.mkdtemp(prefix="jtrace packages "))
    os.chmod(folder, 0o755)
    try:
        test_all(folder, arguments[0], home_with_javac())
    finally:
        if unmount_all(folder):
            shutil.rmtree(folder)
    print("\n".join(f"FAIL  {fault}" for fault in faults) or "all packages work")
    return 1 if faults else 0


class OtherJvm(Jvm):
    """Of a user that is not root."""

    def __init__(self, java, classes):
        self.process = subprocess.Popen([str(java), "-Xmx64m", "-cp", str(classes), "Idle"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, user=OTHER, group=OTHER, cwd="/")
        if self.process.stdout.readline() != b"READY\n":
            raise RuntimeError("the other user's JVM did not start")
        self.pid = str(self.process.pid)
        self.remove_stale_socket()

    def remove_stale_socket(self):
        """A killed JVM of root that had this pid may have left its socket, which this one may not remove from /tmp: attach
        refuses it, and rightly. HotSpot makes the socket when it is attached to, so what is there now is not this JVM's."""
        pathlib.Path(f"/tmp/.java_pid{self.pid}").unlink(missing_ok=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
