#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs that meet in every way run with hpcml's store where this torch can, and as ever where it cannot.

    rendezvous_with_store.py HPCML COMPILED_RANK      with the Python whose torch is meant
"""
import os
import socket
import subprocess
import sys

import torch

SIZE = 3
PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "rendezvous_methods.py")
PYTHON = [sys.executable, "-W", "ignore"]
VERSION = tuple(int(part) for part in torch.__version__.split(".")[:2])
TAKES_OTHERS_STORE = VERSION >= (2, 7)  # docs/development/measurements.md, "Which torch versions use the store"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def environment(**more):
    env = {name: value for name, value in os.environ.items()
           if not name.startswith(("TORCHELASTIC_", "MASTER_", "SLURM_")) and name not in ("RANK", "WORLD_SIZE")}
    return dict(env, OMP_NUM_THREADS="1", **more)


def met(what, processes, words):
    outputs = []
    for process in processes:
        try:
            outputs.append(process.communicate(timeout=600)[0])
        except subprocess.TimeoutExpired:
            process.kill()
            outputs.append(process.communicate()[0] + "\nit did not end")
    good = all(process.returncode == 0 for process in processes) and sum(out.count(words) for out in outputs) == SIZE
    print(f"torch {torch.__version__}, {what}: {'met' if good else 'NOT MET'}", flush=True)
    if not good:
        print("\n".join(outputs))
    return good


def start(command, env):
    return subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def at_our_store(what, hpcml, command, words, variables):
    server = subprocess.Popen([hpcml, "internal", "store-serve", "--listen", "127.0.0.1"], stdout=subprocess.PIPE, text=True)
    try:
        env = environment(MASTER_ADDR="127.0.0.1", MASTER_PORT=server.stdout.readline().strip(), WORLD_SIZE=str(SIZE),
                          **variables)
        return met(what, [start(command, dict(env, RANK=str(rank))) for rank in range(SIZE)], words)
    finally:
        server.terminate()
        server.wait()


def main():
    hpcml, compiled = sys.argv[1], sys.argv[2]
    every_way = PYTHON + [PROGRAM, str(free_port()), "default", "private", "shared"]
    words = f"met {torch.__version__}"
    launched = [hpcml, "launch", "--nproc-per-node", str(SIZE), "--bind", "none", "--"]
    good = [met("launched", [start(launched + every_way, environment())], words),
            met("a compiled program, launched", [start(launched + [compiled], environment())], "met, the sum is 3")]
    if TAKES_OTHERS_STORE:
        one = {"TORCHELASTIC_USE_AGENT_STORE": "1"}
        good += [at_our_store("every way", hpcml, every_way, words, one),
                 at_our_store("a store of its own", hpcml, PYTHON + [PROGRAM, "0", "store"], words, one),
                 at_our_store("a compiled program", hpcml, [compiled], "met, the sum is 3", one)]
    else:
        true = {"TORCHELASTIC_USE_AGENT_STORE": "True", "TORCHELASTIC_RESTART_COUNT": "0"}
        good += [at_our_store("the default group", hpcml, PYTHON + [PROGRAM, "0", "default"], words, true)]
    sys.exit(not all(good))


main()
