#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Boots a kernel whose memory is counted by cgroup v2 alone (in QEMU, without KVM) and lets ranks run out of it there.

on_cgroup_v2.py HPCML LAUNCH_TESTS KERNEL: two programs of one build, and a vmlinuz."""
import os
import re
import stat
import subprocess
import sys
import tempfile

INIT = """#!/bin/bash
export PATH=/usr/bin:/bin:/usr/sbin:/sbin HOME=/tmp
mount -t proc proc /proc; mount -t sysfs sysfs /sys; mount -t devtmpfs dev /dev; mount -t tmpfs tmp /tmp
mkdir -p /dev/shm /sys/fs/cgroup; mount -t tmpfs shm /dev/shm; mount -t cgroup2 cgroup2 /sys/fs/cgroup
ip link set lo up; hostname n1; cd /tmp
echo +memory > /sys/fs/cgroup/cgroup.subtree_control
/launch_tests "a process that the kernel kills*" "-s"
mkdir /sys/fs/cgroup/job_7; echo 67108864 > /sys/fs/cgroup/job_7/memory.max
for agent in "" --agent; do
  ( echo $BASHPID > /sys/fs/cgroup/job_7/cgroup.procs
    /hpcml launch $agent --nproc-per-node 2 -- bash -c 'x=aaaaaaaa; while :; do x=$x$x; done'; echo "code $?" )
done
poweroff -f
"""
PROGRAMS = ["bash", "mount", "mkdir", "ip", "hostname", "poweroff"]
WANTED = [("the kernel killed 1 process for want of memory: the limit of 64 MiB was reached", 2),
          ("the job's limit of 64 MiB was reached (/job_7)", 2), ("hpcml launch: the run ended with 137: out-of-memory", 2), ("code 137", 2)]


def find(name):
    for folder in os.environ["PATH"].split(":") + ["/usr/sbin", "/sbin"]:
        if os.access(f"{folder}/{name}", os.X_OK):
            return f"{folder}/{name}"
    sys.exit(f"there is no {name} here")


def write_archive(path, files):
    """An initial file system in the format that the kernel unpacks (newc)."""
    with open(path, "wb") as archive:
        def add(number, name, mode, data=b""):
            fields = [number, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0]
            head = b"070701" + b"".join(b"%08X" % field for field in fields) + name.encode() + b"\0"
            for part in (head, data):
                archive.write(part + b"\0" * (-len(part) % 4))
        folders = {"proc", "sys", "dev", "tmp"}
        for name in files:
            parts = name.split("/")[:-1]
            folders.update("/".join(parts[:count]) for count in range(1, len(parts) + 1))
        number = 1
        for folder in sorted(folders):
            add(number, folder, stat.S_IFDIR | 0o755)
            number += 1
        for name, data in files.items():
            add(number, name, stat.S_IFREG | 0o755, data)
            number += 1
        add(0, "TRAILER!!!", 0)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def main():
    hpcml, tests, kernel = sys.argv[1:]
    places = {"hpcml": hpcml, "launch_tests": tests, **{f"usr/bin/{name}": find(name) for name in PROGRAMS}}
    files = {"init": INIT.encode(), "etc/passwd": b"root:x:0:0::/tmp:/bin/bash\n", "bin/bash": read(find("bash"))}
    for name, path in places.items():
        files[name] = read(path)
        libraries = subprocess.run(["ldd", path], capture_output=True, text=True, check=False).stdout
        for library in re.findall(r"(/\S+) \(0x", libraries):
            files[library.lstrip("/")] = read(library)
    with tempfile.TemporaryDirectory() as folder:
        write_archive(f"{folder}/root", files)
        ran = subprocess.run([find("qemu-system-x86_64"), "-accel", "tcg,thread=multi", "-smp", "2", "-cpu", "max", "-m", "2048",
                              "-nographic", "-no-reboot", "-kernel", kernel, "-initrd", f"{folder}/root",
                              "-append", "console=ttyS0 panic=-1 edd=off quiet"],
                             stdin=subprocess.DEVNULL, capture_output=True, timeout=900, check=False)
    text = re.sub(r"\s+", " ", re.sub(r"\x1b\[[0-9;]*m", "", ran.stdout.decode(errors="replace")))
    missing = [f'"{words}" stands there {text.count(words)} times, not {count}' for words, count in WANTED if text.count(words) < count]
    if missing:
        print(ran.stdout.decode(errors="replace"))
        sys.exit("\n".join(missing))
    print("ranks out of memory on cgroup v2 are told so, with and without an agent")


main()
