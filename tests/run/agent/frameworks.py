#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Frameworks find the same world with a rank per task, with an agent per node and with a launcher of their own, on an emulated
cluster of two nodes.

    frameworks.py HPCML PYTHON      PYTHON has torch, lightning, accelerate, jax; what it lacks is said and left out
"""
import os
import subprocess
import sys
import tempfile

HPCML, PYTHON = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "framework_rank.py")
MODULES = {"plain": "torch", "lightning": "lightning", "accelerate": "accelerate", "jax": "jax"}
MODES = {"a rank per task": (["--ntasks-per-node=2"], []),
         "an agent per node": (["--ntasks-per-node=1"], ["--agent", "--nproc-per-node", "2"])}


def run(name, mode):
    srun, launch = MODES[mode]
    flags = ["--jax-coordinator"] if name == "jax" else []
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


ACCELERATOR = """
import os
import torch
from accelerate import Accelerator
accelerator = Accelerator()
value = accelerator.reduce(torch.tensor([accelerator.process_index + 1.0]), reduction="sum")
# One write: the ranks share a log.
os.write(1, f"accelerate rank {accelerator.process_index} of {accelerator.num_processes} sum {int(value.item())}\\n".encode())
accelerator.end_training()
"""


def run_script(name, flags, rank_count):
    """A script of gen for CPU nodes, whose program leaves the choice of CPUs to the environment."""
    # A directory that the nodes share: each has its own /tmp and /var/tmp.
    with tempfile.TemporaryDirectory(dir=os.path.dirname(os.path.dirname(HPCML))) as directory:
        with open(os.path.join(directory, "train.py"), "w", encoding="utf-8") as out:
            out.write(ACCELERATOR)
        env = dict(os.environ, OMP_NUM_THREADS="1", PATH=os.path.dirname(PYTHON) + ":" + os.environ["PATH"])
        made = subprocess.run([HPCML, "gen", "--site", "generic", "--gpus-per-node", "0", "--nodes", "2", "--tasks-per-node", "2", "--time", "5",
                               *flags, "-o", "job.sh", "--output", "job.out", "--", "python", "train.py"], cwd=directory, env=env, check=False)
        checked = subprocess.run([HPCML, "check", "job.sh"], cwd=directory, env=env, check=False)
        subprocess.run([HPCML, "emulate", "--site", "generic", "--nodes", "2", "--quiet", "--", "sbatch", "-W", "job.sh"], cwd=directory, env=env,
                       timeout=900, check=False)
        with open(os.path.join(directory, "job.out"), encoding="utf-8") as log:
            text = log.read()
    found = sorted(line[line.index("accelerate rank"):] for line in text.splitlines() if "accelerate rank" in line)
    total = rank_count * (rank_count + 1) // 2
    good = (made.returncode == 0 and checked.returncode == 0 and
            found == [f"accelerate rank {rank} of {rank_count} sum {total}" for rank in range(rank_count)])
    print(f"accelerate, {name}: {f'{rank_count} ranks, one world' if good else 'WRONG'}", flush=True)
    if not good:
        print(text)
    return good


def main():
    good = []
    for name, module in MODULES.items():
        if subprocess.run([PYTHON, "-c", f"import {module}"], stderr=subprocess.DEVNULL, check=False).returncode != 0:
            print(f"{name}: {PYTHON} has no {module}")
            continue
        good += [run(name, mode) for mode in MODES]
        if name == "accelerate":
            good += [run_script("gen", [], 4), run_script("gen --launcher accelerate", ["--launcher", "accelerate"], 4),
                     run_script("gen --launcher torchrun", ["--launcher", "torchrun"], 4)]
    print(f"{sum(good)} of {len(good)} right")
    sys.exit(0 if good and all(good) else 1)


main()
