#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the rendezvous and its key add to a step of N launchers on one machine: python3 tests/bench/rendezvous_cost.py [HPCML [N…]]

Each launcher is started as srun starts a task and becomes /bin/true. The processor time is that of the launchers and their programs; other work on
the machine changes it little, and the wall's much. The store's own process is not in it.
"""
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

NO_KEY = {"HPCML_KEY_FILE": "/nowhere/key"}
KEY = {"HPCML_JOB_SECRET": "0123456789abcdef" * 4}
# The flags of hpcml launch, none for the program alone, and the variables of the ranks
MODES = {"exec": (None, {}), "no meeting": (["--rendezvous-timeout", "0"], NO_KEY), "--store env": (["--store", "env"], KEY),
         "--store own": (["--store", "own"], KEY), "no key": (["--store", "own"], NO_KEY)}
HOST = os.uname().nodename
BUILT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../build/release/bin/hpcml")


def task(rank, ranks, job):
    env = {name: value for name, value in os.environ.items() if not name.startswith(("SLURM", "MASTER", "HPCML"))}
    alike = {"JOB_ID": job, "STEP_ID": 0, "PROCID": rank, "LOCALID": rank, "NODEID": 0, "STEP_NUM_NODES": 1, "STEP_NUM_TASKS": ranks,
             "STEP_TASKS_PER_NODE": ranks, "STEP_NODELIST": HOST, "JOB_NODELIST": HOST, "JOB_NUM_NODES": 1}
    return dict(env, SLURMD_NODENAME=HOST, **{"SLURM_" + name: str(value) for name, value in alike.items()})


def processor_time():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run_step(hpcml, flags, variables, ranks, job):
    tasks = [dict(task(rank, ranks, job), **variables) for rank in range(ranks)]
    start, used = time.monotonic(), processor_time()
    words = ["/bin/true"] if flags is None else [hpcml, "launch", "--bind", "none", *flags, "--", "/bin/true"]
    for process in [subprocess.Popen(words, env=env, stderr=subprocess.DEVNULL) for env in tasks]:
        if process.wait() != 0:
            sys.exit("a launcher failed: " + " ".join(words))
    return time.monotonic() - start, processor_time() - used


def main():
    job = int(time.time()) % 100000 * 1000
    with tempfile.TemporaryDirectory() as directory:
        # A copy, as installed programs are: a linker leaves its file in small pieces in the page cache.
        hpcml = shutil.copy(sys.argv[1] if len(sys.argv) > 1 else BUILT, directory)
        for ranks in map(int, sys.argv[2:] or ["1", "2", "8", "64"]):
            rows = {mode: [] for mode in MODES}
            for _ in range(max(10, 60 // ranks)):
                for mode, (flags, variables) in MODES.items():
                    job += 1
                    rows[mode].append(run_step(hpcml, flags, variables, ranks, job))
            wall, used = ({mode: statistics.median(one[at] for one in row) * 1e3 for mode, row in rows.items()} for at in (0, 1))
            for mode in MODES:
                print(f"{ranks:4} ranks, {mode:11}  wall {wall[mode]:6.1f} ms ({wall[mode] / wall['--store env']:.2f} of --store env)"
                      f"   processor {used[mode]:6.1f} ms ({(used[mode] - used['exec']) / ranks:+.2f} ms a rank over exec)")


main()
