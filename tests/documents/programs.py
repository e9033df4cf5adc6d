#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The programs of docs/examples that come from the documents, as ranks on this machine.

    programs.py HPCML      with the Python whose torch is meant
"""
import os
import re
import subprocess
import sys
import tempfile

HPCML = os.path.abspath(sys.argv[1])
EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "examples")
FOREIGN = ("SLURM_", "MASTER_", "TORCHELASTIC_", "HPCML_", "PET_", "OMPI_", "PMI")


def run(flags, program, words, directory):
    """The exit code and what is written under hpcml launch."""
    env = {name: value for name, value in os.environ.items()
           if not name.startswith(FOREIGN) and name not in ("RANK", "WORLD_SIZE", "LOCAL_RANK")}
    env.update(OMP_NUM_THREADS="1", PYTHONWARNINGS="ignore", CUDA_VISIBLE_DEVICES="")
    command = [HPCML, "launch", *flags, "--", sys.executable, os.path.join(EXAMPLES, program), *words]
    done = subprocess.run(command, env=env, cwd=directory, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", timeout=900)
    return done.returncode, done.stdout


def expect(what, reported, code, patterns):
    """Whether the program ended so and said all of it."""
    faults = [] if reported[0] == code else [f"exit code {reported[0]}"]
    faults += [f"nothing like {pattern!r}" for pattern in patterns if not re.search(pattern, reported[1])]
    print(f"{what}: {'; '.join(faults) or 'as it should be'}", flush=True)
    if faults:
        print(reported[1])
    return not faults


def check_images(directory):
    flags = ["--nproc-per-node", "1", "--tf32", "on"]
    reported = run(flags, "alliance/images.py", ["--images", "1000", "--num-workers", "1"], directory)
    good = expect("one process trains on images, and torch hears of --tf32", reported, 0,
                  ["cpu, 1 threads, 1 loaders, TF32 for products on", "--tf32 on has no effect: no GPU is visible"])
    losses = re.search(r"loss ([\d.]+) at first, ([\d.]+) at last", reported[1])
    return good and expect("its loss falls", (0 if losses and float(losses[2]) < 0.9 * float(losses[1]) else reported[1], ""), 0, [])


def check_demo(directory):
    good = True
    for form in ("checkpoint", "model-parallel"):
        reported = run(["--nproc-per-node", "2"], "servers/ddp_demo.py", [form, "--folder", "demo"], directory)
        good &= expect(f"DDP, {form}", reported, 0, [rf"rank {rank} of 2, {form} on cpu.*ranks agree" for rank in (0, 1)])
    return good and not os.listdir(os.path.join(directory, "demo"))


def check_elastic(directory):
    whole = run(["--nproc-per-node", "2"], "servers/elastic.py", ["--folder", "whole"], directory)
    killed = run(["--nproc-per-node", "2", "--max-restarts", "1"], "servers/elastic.py", ["--folder", "killed", "--kill-at", "4"], directory)
    good = expect("a rank is killed, named, and the training goes on", killed, 0,
                  ["start 0: 2 ranks, from step 0", "rank 1/2 .*was killed by SIGKILL", "start 1: 2 ranks, from step [34]"])
    ends = [re.search(r"parameters sum to (\S+)", reported[1]) for reported in (whole, killed)]
    return good and expect("it ends where the one that was not killed ends",
                           (0 if all(ends) and ends[0][1] == ends[1][1] else whole[1] + killed[1], ""), 0, [])


def check_train(directory):
    reported = run(["--nproc-per-node", "2"], "zurada/train.py", [], directory)
    losses = [float(loss) for loss in re.findall(r"epoch \d: loss ([\d.]+) over 1000 samples of 2 ranks", reported[1])]
    return expect("Zurada's training learns one data set", reported if len(losses) == 5 and losses[-1] < losses[0] / 4 else (reported[0] or "no", reported[1]), 0, [])


def check_send(directory):
    reported = run(["--nproc-per-node", "2"], "vista/send_receive.py", ["--backend", "nccl"], directory)
    return expect("what is sent arrives, by Gloo where there is no GPU", reported, 0,
                  ["no GPU: gloo instead of nccl", "rank 0 on .* sent 1000000 numbers to 1 ranks by gloo", "rank 1 on .* got what was sent"])


with tempfile.TemporaryDirectory() as place:
    results = [check(place) for check in (check_images, check_demo, check_elastic, check_train, check_send)]
sys.exit(0 if all(results) else 1)
