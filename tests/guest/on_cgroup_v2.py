#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Lets ranks and jobs of emulated clusters run out of memory, and open others' devices, on a machine with cgroup v2 alone.

on_cgroup_v2.py BUILD KERNEL: a build with hpcml, launch_tests and emulate_tests, and a folder into which a Debian kernel was unpacked."""
import os
import re
import sys

sys.dont_write_bytecode = True  # nothing is left in the source tree

import guest  # noqa: E402

SCRIPT = r"""
export PATH=BUILD/bin:$PATH HPCML_TEST_OOM_AT=60s
tree=/sys/fs/cgroup
hpcml emulate --quiet --site generic --limit-memory -- true; echo "nothing handed on: $?"
HAND_ON
launch_tests "a process that the kernel kills*" -s
mkdir $tree/job_7; echo 67108864 > $tree/job_7/memory.max
for agent in "" --agent; do
  ( echo $BASHPID > $tree/job_7/cgroup.procs
    hpcml launch $agent --nproc-per-node 2 -- bash -c 'x=aaaaaaaa; while :; do x=$x$x; done'; echo "code $?" )
done

# As systemd has it: the caller is in a group of its own, with a limit.
mkdir -p $tree/user.slice/session.scope; echo +memory +pids > $tree/user.slice/cgroup.subtree_control
echo 3G > $tree/user.slice/session.scope/memory.max; echo $$ > $tree/user.slice/session.scope/cgroup.procs
hpcml emulate --quiet --site generic --limit-memory -- bash -c "cd $tree/user.slice/hpcml-*; cat memory.max memory.swap.max | xargs echo limits"
emulate_tests '[memory],[devices]'; echo "emulate_tests: $?"
find $tree -name 'hpcml-*' | wc -l | xargs echo groups left:

# As a container has it: its processes are in the outermost group that they see.
unshare --cgroup --mount bash -c "umount -l $tree; mount -t cgroup2 tree $tree; hpcml emulate --quiet --site generic --limit-memory -- true; echo in a container: \$?"
"""
WANTED = [("echo +memory +pids > /sys/fs/cgroup/cgroup.subtree_control nothing handed on: 5", 1),
          ("out of memory: the kernel killed 1 process: the limit of 64 MiB was reached", 2),
          ("the job's limit of 64 MiB was reached (/job_7)", 2), ("hpcml: the run exited with code 137: out-of-memory", 2), ("code 137", 2),
          ("limits 3221225472 0", 1), ("All tests passed", 2), ("emulate_tests: 0", 1), ("groups left: 0", 1), ("in a container: 5", 1)]


def main():
    build, kernel = sys.argv[1:]
    shown = guest.run(kernel, SCRIPT.replace("BUILD", os.path.abspath(build)).replace("HAND_ON\n", guest.HAND_ON), timeout=2400)
    text = re.sub(r"\s+", " ", shown)
    wrong = [f'"{words}" stands there {text.count(words)} times, not {count}' for words, count in WANTED if text.count(words) < count]
    wrong += re.findall(r"not run: [^\n]*", shown)
    if wrong:
        print(shown)
        sys.exit("\n".join(wrong))
    print("cgroup v2: ranks out of memory are told so; jobs of emulated clusters are killed at their limit and out of memory by Slurm's word, a task opens its own devices alone, no group is left")


main()
