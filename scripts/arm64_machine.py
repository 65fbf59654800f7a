#!/usr/bin/env python3
"""Trees of Debian's arm64 packages, and an emulated machine (qemu-system-aarch64) that has them as its disks.

    scripts/arm64_machine.py TREE...   unpacks what is missing of these: sysroot (what jtrace is linked with), bookworm, sid (JDKs)
    scripts/arm64_machine.py --where   prints the folder: trees/NAME, and what is made of them

Nothing of a package is run. Needs root and the package mmdebstrap; a machine: qemu-system-arm, kmod, cpio, e2fsprogs.
JTRACE_ARM64 names another folder than /var/cache/jtrace/arm64. scripts/arm64-cores and scripts/arm64-vm start machines.
"""
import os
import pathlib
import shutil
import subprocess
import sys

WHERE = pathlib.Path(os.environ.get("JTRACE_ARM64") or "/var/cache/jtrace/arm64")
ROOT = pathlib.Path(__file__).resolve().parent.parent
# Each tree: its suite and its packages. A package that the suite lacks today must not cost the others.
TREES = {
    "sysroot": ("bookworm", ["libstdc++-12-dev", "libc6-dev", "libexpected-dev", "libcli11-dev", "uuid-dev", "libelf-dev", "libboost-dev",
                             "libexpat1-dev", "libzstd-dev", "zlib1g-dev", "liblz4-dev", "liblzma-dev", "libxxhash-dev",
                             "libsqlite3-dev", "systemtap-sdt-dev", "libgtest-dev", "libgmock-dev", "nlohmann-json3-dev"]),
    "bookworm": ("bookworm", ["linux-image-arm64", "busybox-static", "jattach", "openjdk-17-jdk-headless"]),
    "sid": ("sid", ["jattach"] + [f"openjdk-{jdk}-jdk-headless" for jdk in (8, 11, 21, 25, 27)]),
}
# Half of the modules that the guest needs to see disks, file systems and this machine's folder; modprobe knows the rest.
MODULES = ["virtio_pci", "virtio_blk", "crc32c_generic", "ext4", "9pnet_virtio", "9p"]
# The guest's disks are /t/a and /t/b; the folder that it shares with this machine is /x, and /x/run.sh what it does.
INIT = """#!/bin/busybox sh
/bin/busybox mkdir -p /bin /proc /sys /dev /t/a /t/b /x
/bin/busybox --install -s /bin
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev
for module in $(cat /modules/order); do insmod /modules/$module; done
mount -t 9p -o trans=virtio,version=9p2000.L,msize=262144 exchange /x
mount -t ext4 /dev/vda /t/a; mount -t ext4 /dev/vdb /t/b
ifconfig lo 127.0.0.1 up
for tree in /t/a /t/b; do
  mkdir -p $tree/proc $tree/dev $tree/tmp $tree/sys
  mount -t proc proc $tree/proc; mount -t sysfs sys $tree/sys; mount -t devtmpfs dev $tree/dev; mount -t tmpfs tmp $tree/tmp
  mkdir -p $tree/dev/shm; mount -t tmpfs shm $tree/dev/shm
done
echo /tmp/core > /proc/sys/kernel/core_pattern; echo 0 > /proc/sys/kernel/core_uses_pid
sh /x/run.sh > /x/log 2>&1
sync; poweroff -f
"""


def fail(text):
    print(f"{pathlib.Path(sys.argv[0]).name}: {text}", file=sys.stderr)
    sys.exit(1)


def run(command, **options):
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", **options)
    except FileNotFoundError:
        fail(f"no {command[0]}: scripts/setup --arch arm64 installs what is missing")
    if done.returncode != 0:
        fail(f"{' '.join(map(str, command))}: status {done.returncode}\n{done.stdout[-2000:]}")
    return done.stdout


def tree_of(name):
    return WHERE / "trees" / name


def make_tree(name):
    """Unpacks Debian packages of arm64; nothing of them is run. A tree made for other packages is made again."""
    suite, packages = TREES[name]
    tree = tree_of(name)
    complete, wanted = tree / ".complete", " ".join(packages) + "\n"
    if complete.exists() and complete.read_text() in ("", wanted):
        return tree
    shutil.rmtree(tree, ignore_errors=True)
    tree.parent.mkdir(parents=True, exist_ok=True)
    run(["mmdebstrap", "--architectures=arm64", "--variant=extract", "--format=directory",
         "--aptopt=Acquire::Check-Valid-Until \"false\"", "--include=" + ",".join(packages), suite, tree])
    for folder in ("bin", "lib", "sbin"):  # a tree with all of /usr in one place, whose links come with a package's script
        if not (tree / folder).exists():
            (tree / folder).symlink_to("usr/" + folder)
    (tree / "etc/passwd").write_text("root:x:0:0:root:/root:/bin/sh\n")  # without a name HotSpot makes no hsperfdata
    (tree / "etc/group").write_text("root:x:0:\n")
    (WHERE / f"{name}.img").unlink(missing_ok=True)
    complete.write_text(wanted)
    return tree


def homes(tree):
    """JDK number -> its home inside the tree."""
    found = {}
    for home in sorted((tree / "usr/lib/jvm").glob("java-*-openjdk-arm64")):
        if not home.is_symlink() and (home / "bin/java").exists():
            found[int(home.name.split("-")[1])] = "/" + str(home.relative_to(tree))
    return found


def make_image(tree):
    image = WHERE / f"{tree.name}.img"
    if not image.exists():
        size = int(run(["du", "-sm", tree]).split()[0]) + 400
        run(["mke2fs", "-q", "-t", "ext4", "-O", "^has_journal", "-m", "0", "-d", tree, f"{image}.part", f"{size}M"])
        os.rename(f"{image}.part", image)
    return image


def make_initrd(tree):
    """busybox, the modules in the order in which they can be loaded, and INIT. Returns kernel and initrd."""
    version = sorted((tree / "lib/modules").iterdir())[-1].name
    initrd = WHERE / "initrd"
    root = WHERE / "initrd.tree"
    shutil.rmtree(root, ignore_errors=True)
    for folder in ("bin", "modules"):
        (root / folder).mkdir(parents=True)
    run(["depmod", "-b", tree, version])
    order = []
    for module in MODULES:
        for line in run(["modprobe", "-d", tree, "-S", version, "--show-depends", module]).splitlines():
            path = pathlib.Path(line.split()[1]) if line.startswith("insmod") else None
            if path and path.name not in order:
                order.append(path.name)
                shutil.copy(path, root / "modules" / path.name)
    (root / "modules/order").write_text("\n".join(order) + "\n")
    shutil.copy(tree / "bin/busybox", root / "bin/busybox")
    (root / "init").write_text(INIT)
    (root / "init").chmod(0o755)
    with open(initrd, "wb") as out:
        names = "\n".join(str(path.relative_to(root)) for path in sorted(root.rglob("*"))) + "\n"
        packed = subprocess.run(["cpio", "-o", "-H", "newc", "--quiet"], input=names.encode(), cwd=root, stdout=subprocess.PIPE,
                                check=True).stdout
        out.write(packed)
    shutil.rmtree(root)
    return sorted((tree / "boot").glob("vmlinuz-*"))[-1], initrd


def boot(trees, exchange, seconds):
    """Runs a machine with these trees as disks until its run.sh in `exchange` is over. The first tree has the kernel."""
    kernel, initrd = make_initrd(trees[0])
    command = ["timeout", str(seconds), "qemu-system-aarch64", "-M", "virt", "-cpu", "max,pauth-impdef=on", "-smp", "2", "-m", "2560",
               "-accel", "tcg,thread=multi", "-display", "none", "-monitor", "none", "-serial", "stdio", "-no-reboot", "-nic", "none",
               "-kernel", kernel, "-initrd", initrd, "-append", "console=ttyAMA0 quiet panic=-1"]
    for number, tree in enumerate(trees):
        command += ["-drive", f"file={make_image(tree)},format=raw,if=none,id=d{number},cache=unsafe,snapshot=on",
                    "-device", f"virtio-blk-pci,drive=d{number}"]
    command += ["-fsdev", f"local,id=x,path={exchange},security_model=none", "-device", "virtio-9p-pci,fsdev=x,mount_tag=exchange"]
    with open(exchange / "console", "wb") as console:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=console, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        print(f"the machine ended with status {done.returncode} (124: after {seconds} s); see {exchange}/log and console",
              file=sys.stderr)
    return done.returncode


def main(arguments):
    if arguments == ["--where"]:
        print(WHERE)
        return 0
    unknown = [name for name in arguments if name not in TREES]
    if not arguments or unknown:
        print(__doc__.strip())
        return 0 if not unknown or unknown[0] in ("-h", "--help") else 2
    for name in arguments:
        print(make_tree(name))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
