#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a step of 10,000 nodes costs a rank over one of 1 node: instructions, time and memory of `hpcml launch --dry-run`.

    host_list.py HPCML          needs valgrind for the instructions
"""
import os
import subprocess
import sys
import time

HPCML = sys.argv[1]
COMMAND = [HPCML, "launch", "--bind", "none", "--dry-run", "--", "/bin/true"]


def variables(nodes):
    rank = "5" if nodes > 1 else "0"
    return {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], "SLURM_JOB_ID": "77", "SLURM_STEP_ID": "0", "SLURM_LOCALID": "0",
            "SLURM_PROCID": rank, "SLURM_NODEID": rank, "SLURM_NTASKS": str(nodes), "SLURM_STEP_NUM_TASKS": str(nodes),
            "SLURM_STEP_NUM_NODES": str(nodes), "SLURM_NNODES": str(nodes),
            "SLURM_STEP_NODELIST": f"node[00001-{nodes:05d}]" if nodes > 1 else "node00001",
            "SLURM_STEP_TASKS_PER_NODE": f"1(x{nodes})" if nodes > 1 else "1", "SLURMD_NODENAME": f"node{int(rank) + 1:05d}"}


def run(words, nodes):
    return subprocess.run(words, env=variables(nodes), check=True, capture_output=True, text=True)


def best_time(nodes):
    times = []
    for _ in range(40):
        start = time.perf_counter()
        run(COMMAND, nodes)
        times.append(time.perf_counter() - start)
    return min(times) * 1e3


def peak(nodes):
    return int(run(["/usr/bin/time", "-f", "%M"] + COMMAND, nodes).stderr.splitlines()[-1])


def instructions(nodes):
    reported = run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"] + COMMAND, nodes).stderr
    return next(int(line.split(":")[1]) for line in reported.splitlines() if "Collected" in line)


one, many = best_time(1), best_time(10000)
print(f"time: {one:.2f} ms with 1 node, {many:.2f} ms with 10,000: {many - one:.2f} ms more")
print(f"memory: {peak(1)} KiB with 1 node, {peak(10000)} KiB with 10,000")
print(f"instructions: {(instructions(10000) - instructions(1)) / 1e6:.2f} million more with 10,000 nodes")
