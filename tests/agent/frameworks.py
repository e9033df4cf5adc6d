#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Frameworks find the same world with a rank per task and with an agent per node, on an emulated cluster of two nodes.

    frameworks.py HPCML PYTHON      PYTHON has torch, lightning, accelerate, jax; what it lacks is said and left out
"""
import os
import subprocess
import sys

HPCML, PYTHON = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "framework_rank.py")
MODULES = {"plain": "torch", "lightning": "lightning", "accelerate": "accelerate", "jax": "jax"}
MODES = {"a rank per task": (["--ntasks-per-node=2"], []),
         "an agent per node": (["--ntasks-per-node=1"], ["--agent", "--nproc-per-node", "2"])}


def run(name, mode):
    srun, launch = MODES[mode]
    flags = ["--coordinator"] if name == "jax" else []
    words = [HPCML, "emulate", "--site", "generic", "--nodes", "2", "--", "srun", "--nodes=2", *srun, "--cpu-bind=none",
             HPCML, "launch", *launch, *flags, "--", PYTHON, "-W", "ignore", PROGRAM, name]
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=900, check=False,
                          env=dict(os.environ, OMP_NUM_THREADS="1"))
    found = sorted(line[line.index(name + " rank"):] for line in done.stdout.splitlines() if name + " rank" in line)
    good = done.returncode == 0 and found == [f"{name} rank {rank} of 4 sum 10" for rank in range(4)]
    print(f"{name}, {mode}: {'4 ranks, one world' if good else 'WRONG'}", flush=True)
    if not good:
        print(done.stdout)
    return good


def main():
    good = []
    for name, module in MODULES.items():
        if subprocess.run([PYTHON, "-c", f"import {module}"], stderr=subprocess.DEVNULL, check=False).returncode != 0:
            print(f"{name}: {PYTHON} has no {module}")
            continue
        good += [run(name, mode) for mode in MODES]
    print(f"{sum(good)} of {len(good)} right")
    sys.exit(0 if good and all(good) else 1)


main()
