# SPDX-License-Identifier: MIT
"""A machine whose kernel counts memory by cgroup v2 alone: Debian's kernel in QEMU, without KVM.

It sees this machine's files read-only; what it writes lies in its own memory and is gone with it."""
import glob
import os
import re
import stat
import subprocess
import sys
import tempfile

# In the order in which they need each other.
MODULES = """drivers/virtio/virtio_ring drivers/virtio/virtio drivers/virtio/virtio_pci_legacy_dev drivers/virtio/virtio_pci_modern_dev
drivers/virtio/virtio_pci fs/netfs/netfs fs/fscache/fscache net/9p/9pnet net/9p/9pnet_virtio fs/9p/9p fs/overlayfs/overlay
net/llc/llc net/802/stp net/bridge/bridge drivers/net/veth""".split()

INIT = """#!/bin/busybox sh
PATH=/bin; /bin/busybox --install -s /bin
mount -t proc proc /proc
for module in %s; do insmod /modules/$module.ko || poweroff -f; done
mount -t 9p -o trans=virtio,version=9p2000.L,ro,cache=loose,msize=262144 host /host
mount -t tmpfs -o size=50%% written /written; mkdir /written/files /written/work
mount -t overlay -o lowerdir=/host,upperdir=/written/files,workdir=/written/work overlay /root
umount /proc; mount -t proc proc /root/proc; mount -t sysfs sysfs /root/sys; mount -t devtmpfs dev /root/dev
mkdir -p /root/dev/shm /root/dev/pts; mount -t tmpfs shm /root/dev/shm; mount -t devpts pts /root/dev/pts
mount -t cgroup2 cgroup2 /root/sys/fs/cgroup; mount -t tmpfs run /root/run; mount -t tmpfs tmp /root/tmp
ifconfig lo 127.0.0.1 up; hostname n1; cp /script /root/run/script
exec switch_root /root /bin/bash -c '. /run/script; busybox poweroff -f'
"""

# Before each script; and what lets groups below the outermost one have memory counted, as systemd does where it runs.
SURROUNDINGS = "export PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin HOME=/srv; cd /srv\n"
HAND_ON = "echo +memory +pids > /sys/fs/cgroup/cgroup.subtree_control\n"


def find(name):
    for directory in os.environ["PATH"].split(":") + ["/usr/sbin", "/sbin"]:
        if os.access(f"{directory}/{name}", os.X_OK):
            return f"{directory}/{name}"
    sys.exit(f"there is no {name} here")


def read(path):
    with open(path, "rb") as file:
        return file.read()


def write_archive(path, files):
    """An initial file system in the format that the kernel unpacks (newc)."""
    with open(path, "wb") as archive:
        def add(number, name, mode, data=b""):
            fields = [number, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0]
            head = b"070701" + b"".join(b"%08X" % field for field in fields) + name.encode() + b"\0"
            for part in (head, data):
                archive.write(part + b"\0" * (-len(part) % 4))
        directories = ["bin", "proc", "host", "written", "root", "modules"]
        for number, directory in enumerate(directories, 1):
            add(number, directory, stat.S_IFDIR | 0o755)
        for number, (name, data) in enumerate(files.items(), len(directories) + 1):
            add(number, name, stat.S_IFREG | 0o755, data)
        add(0, "TRAILER!!!", 0)


def run(kernel, script, timeout, memory=4096):
    """What the guest's console shows while it runs the script; `kernel`: a folder into which Debian's package was unpacked."""
    image, = glob.glob(f"{kernel}/boot/vmlinuz-*")
    modules, = glob.glob(f"{kernel}/lib/modules/*/kernel")
    files = {f"modules/{os.path.basename(name)}.ko": read(f"{modules}/{name}.ko") for name in MODULES}
    files.update({"bin/busybox": read(find("busybox")), "init": (INIT % " ".join(map(os.path.basename, MODULES))).encode(), "script": (SURROUNDINGS + script).encode()})
    with tempfile.TemporaryDirectory() as directory:
        write_archive(f"{directory}/initrd", files)
        ran = subprocess.run([find("qemu-system-x86_64"), "-accel", "tcg,thread=multi", "-smp", "2", "-cpu", "max", "-m", str(memory), "-nographic",
                              "-no-reboot", "-kernel", image, "-initrd", f"{directory}/initrd", "-append", "console=ttyS0 panic=-1 edd=off quiet",
                              "-virtfs", "local,path=/,mount_tag=host,security_model=none,readonly=on,multidevs=remap"],
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=timeout, check=False)
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]|\r", "", ran.stdout.decode(errors="replace"))
