#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares two hpcml binaries: the resolved launch, the report, and the command and environment that a rank gets.

Usage: compare_launches.py OLD NEW [--count N] [--seed S]

Draws a site, a step and options of `hpcml launch` N times and runs both binaries with the same environment:
with --dry-run, and with --report and a program that prints its arguments and its environment. Differences are
printed; the exit code is 1 if there are any.
"""
import argparse
import os
import pathlib
import random
import re
import subprocess
import sys
from typing import Dict, List, NamedTuple

REPO = pathlib.Path(__file__).resolve().parents[3]
NO_SITES = ("schema", "local", "alliance", "alps", "jsc", "tacc")
SITES = sorted(path.stem for path in (REPO / "sites").glob("*.json") if path.stem not in NO_SITES)
# Prints the words and the variables of the program, without those of the shell.
PRINT = 'printf "%s\\n" "$0" "$@"; tr "\\0" "\\n" < /proc/self/environ | sort'
PROGRAM = ["/bin/sh", "-c", PRINT, "program", "first word", "$HOME"]
# What differs between two runs of one binary.
VOLATILE = [
    (re.compile(r"-pid\d+-"), "-pidN-"),
    (re.compile(r"(MASTER_PORT[=:]|127\.0\.0\.1:|HPCML_STORE_ADDR=\S+:)\d+"), r"\1PORT"),
    (re.compile(r"HPCML_LAUNCH[=:]\S+"), "HPCML_LAUNCH"),
    (re.compile(r"HPCML_STEP_SET=\S+"), "HPCML_STEP_SET"),
    (re.compile(r"(HPCML_STEP_SET=)'[^']*'"), r"\1"),
]


class Launch(NamedTuple):
    """One start of hpcml launch."""

    options: List[str]
    env: Dict[str, str]
    command: List[str]


def draw_step(dice: random.Random, one_per_node: bool) -> Dict[str, str]:
    """Returns the variables of one task of a drawn step."""
    nodes = dice.choice([1, 1, 2, 3, 4, 7])
    if one_per_node:
        counts = [1] * nodes
    elif dice.random() < 0.5:
        counts = [dice.choice([1, 2, 4, 8])] * nodes
    else:
        counts = [dice.randint(1, 4) for _ in range(nodes)]
    node = dice.randrange(nodes)
    local = dice.randrange(counts[node])
    cyclic = dice.random() < 0.3 and len(set(counts)) == 1
    rank = local * nodes + node if cyclic else sum(counts[:node]) + local
    names = "nid001" if nodes == 1 else f"nid[001-{nodes:03}]"
    gpus = dice.choice([0, 1, 2, 4, 8])
    env = {
        "SLURM_JOB_ID": str(dice.randint(1, 10**7)),
        "SLURM_JOBID": "1",
        "SLURM_STEP_ID": str(dice.randint(0, 3)),
        "SLURM_STEPID": "0",
        "SLURM_PROCID": str(rank),
        "SLURM_LOCALID": str(local),
        "SLURM_NODEID": str(node),
        "SLURM_NTASKS": str(sum(counts)),
        "SLURM_STEP_NUM_TASKS": str(sum(counts)),
        "SLURM_STEP_NUM_NODES": str(nodes),
        "SLURM_STEP_NODELIST": names,
        "SLURM_JOB_NODELIST": names,
        "SLURM_JOB_NUM_NODES": str(nodes),
        "SLURM_STEP_TASKS_PER_NODE": ",".join(str(count) for count in counts),
        "SLURMD_NODENAME": f"nid{node + 1:03}",
        "SLURM_JOB_PARTITION": dice.choice(["gpu", "standard-g", "booster", ""]),
        "SLURM_LAUNCH_NODE_IPADDR": "127.0.0.1",
    }
    if cyclic:
        env["SLURM_DISTRIBUTION"] = "cyclic"
    if gpus:
        listed = ",".join(str(number) for number in range(gpus))
        env[dice.choice(["CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "SLURM_STEP_GPUS", "SLURM_JOB_GPUS"])] = listed
        env["SLURM_GPUS_ON_NODE"] = str(gpus)
    for name, values in (
        ("SLURM_RESTART_COUNT", ["1"]),
        ("SLURM_CPUS_PER_TASK", ["4"]),
        ("SLURM_TRES_PER_TASK", ["cpu=4,gres/gpu=1"]),
        ("SLURM_CPU_BIND_LIST", ["0x1,0x2"]),
        ("SLURM_CPU_BIND", ["quiet,mask_cpu:0x1,0x2"]),
        ("HPCML_JOB_SECRET", ["a" * 64]),
        ("MASTER_ADDR", ["nid001", "127.0.0.1", "nid009"]),
        ("MASTER_PORT", ["29500", "x"]),
        ("RANK", [str(rank), "77"]),
        ("OMP_NUM_THREADS", ["3"]),
        ("OMP_PROC_BIND", ["true"]),
        ("GLOO_SOCKET_IFNAME", ["lo"]),
        ("NCCL_SOCKET_IFNAME", ["hsn", "^docker"]),
        ("HPCML_DATALOADER_WORKERS", ["2"]),
        ("PET_NNODES", ["2"]),
        ("OMPI_COMM_WORLD_RANK", ["0"]),
        ("OMPI_COMM_WORLD_SIZE", ["2"]),
        ("SLURM_JOB_NAME", ["train"]),
        ("SLURM_JOB_QOS", ["debug"]),
    ):
        if dice.random() < 0.08:
            env[name] = dice.choice(values)
    return env


def draw(dice: random.Random) -> Launch:
    """Returns a drawn launch, most of them in a step."""
    env = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "USER": "ada", "HPCML_CONFIG": "/nonexistent"}
    options: List[str] = []
    one_per_node = dice.random() < 0.3
    if dice.random() < 0.85:
        env.update(draw_step(dice, one_per_node))
    if one_per_node:
        options += dice.choice([[], ["--nproc-per-node", "2"], ["--nproc-per-node", "4"]])
    if dice.random() < 0.85:
        options += ["--site", dice.choice(SITES)]
    for chance, choices in (
        (0.3, [["--bind", word] for word in ("none", "verify", "apply")]),
        (0.2, [["--gpus-per-task", number] for number in ("0", "0", "1", "2")]),
        (0.2, [["--cpus-per-task", number] for number in ("1", "4")]),
        (0.2, [["--backend", word] for word in ("gloo", "nccl")]),
        (0.1, [["--rank-order", word] for word in ("ring", "cpu", "1,0,2,3")]),
        (0.1, [["--gpu-visibility", word] for word in ("own", "all")]),
        (0.1, [["--tf32", word] for word in ("on", "off")]),
        (0.1, [["--master-port", "29123"]]),
        (0.05, [["--jax-coordinator"]]),
        (0.05, [["--profile-hash", "0123"]]),
        (0.05, [["--partition", "standard-g"]]),
        (0.1, [["--container"]]),
        (0.1, [["--idle-cores", "package"]]),
        (0.1, [["--threads-per-core", "2"]]),
        (0.05, [["--max-restarts", "1"]]),
    ):
        if dice.random() < chance:
            options += dice.choice(choices)
    command = PROGRAM
    if dice.random() < 0.25:
        command = dice.choice(
            [
                ["python", "x.py"],
                ["torchrun", "--nproc_per_node=2", "x.py"],
                ["torchrun", "--nproc_per_node=1", "--nnodes=2", "x.py"],
                ["deepspeed", "x.py"],
                ["apptainer", "exec", "i.sif", "python", "x.py"],
                ["docker", "run", "image", "python", "x.py"],
                ["singularity", "exec", "--cleanenv", "i.sif", "python", "x.py"],
                ["accelerate", "launch", "--cpu", "x.py"],
            ]
        )
    return Launch(options, env, command)


def run(binary: str, launch: Launch, more: List[str]) -> str:
    """Returns the exit code and the output of one run, without what differs between two runs."""
    words = [binary, "launch", *more, *launch.options, "--", *launch.command]
    result = subprocess.run(words, env=launch.env, text=True, capture_output=True, timeout=60, check=False)
    text = f"exit code {result.returncode}\n{result.stdout}\n{result.stderr}"
    for pattern, replacement in VOLATILE:
        text = pattern.sub(replacement, text)
    if launch.command is PROGRAM and not more[:1] == ["--dry-run"]:
        text = "\n".join(sorted(text.split("\n")))  # several ranks write at once
    return text


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=43)
    options = parser.parse_args()
    dice = random.Random(options.seed)
    different = executed = resolved = 0
    for number in range(options.count):
        launch = draw(dice)
        modes = [["--dry-run"]]
        if launch.command is PROGRAM and "--max-restarts" not in launch.options:
            modes.append(["--report", "--rendezvous-timeout", "0"])
        for more in modes:
            old, new = run(options.old, launch, more), run(options.new, launch, more)
            good = "exit code 0" in old
            resolved += good and more == ["--dry-run"]
            executed += good and more != ["--dry-run"]
            if old == new:
                continue
            different += 1
            lines = [f"  - {line}" for line in old.split("\n") if line not in new.split("\n")]
            lines += [f"  + {line}" for line in new.split("\n") if line not in old.split("\n")]
            print(f"launch {number}: {' '.join(more + launch.options)} -- {launch.command[0]}\n" + "\n".join(lines[:12]))
    print(f"{options.count} launches: {resolved} resolved, {executed} executed, {different} different")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
