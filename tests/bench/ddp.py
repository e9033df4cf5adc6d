#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A training step of hpcml::ddp beside Python's DistributedDataParallel and LibTorch's own Reducer, in one run:
python3 tests/bench/ddp.py DDP_STEP [PAIRS]   with a Python whose torch is the one that DDP_STEP (target ddp_step) was built with.

Two ranks each, Gloo, one thread a rank. All three worlds live side by side and take turns, so what else the machine does meets all of
them. Printed are medians of milliseconds and the medians of the pairs' ratios. Goals: goals.json.
"""
import os
import socket
import statistics
import subprocess
import sys
import time

import goals

HERE = os.path.dirname(os.path.abspath(__file__))
STEP = sys.argv[1]
PAIRS = int(sys.argv[2]) if len(sys.argv) > 2 else 20
# name, width, batch
MODELS = [("overhead-bound", 256, 32), ("communication-bound", 1024, 32), ("compute-bound", 512, 1024)]
STEPS = 20  # in a turn


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class World:
    """Two ranks that wait for the number of steps to take."""

    def __init__(self, command):
        port = str(free_port())
        begun = time.time()
        self.ranks = []
        for rank in ("0", "1"):
            place = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1",
                     "MASTER_PORT": port, "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}
            self.ranks.append(subprocess.Popen(command, env={**os.environ, **place}, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                               stderr=subprocess.DEVNULL, text=True))
        self.step(1)
        self.start = time.time() - begun

    def step(self, count):
        for rank in self.ranks:
            rank.stdin.write(f"{count}\n")
            rank.stdin.flush()
        times = [float(word) for word in self.ranks[0].stdout.readline().split()]
        if len(times) != count:
            sys.exit(f"{self.ranks[0].args} ended with {self.ranks[0].wait()}")
        return statistics.median(times)

    def end(self):
        for rank in self.ranks:
            rank.stdin.close()
        for rank in self.ranks:
            rank.wait(30)


def main():
    missed = 0
    starts = []
    for name, width, batch in MODELS:
        sizes = [str(width), str(batch)]
        worlds = {"python": World([sys.executable, "-W", "ignore", os.path.join(HERE, "ddp_step.py"), *sizes]),
                  "ours": World([STEP, "ours", *sizes])}
        if subprocess.run([STEP, "reducer", "1"], check=False).returncode == 2:
            worlds["reducer"] = World([STEP, "reducer", *sizes])
        for world in worlds.values():
            world.step(10)  # buckets are laid out anew after the first step
        times = {who: [] for who in worlds}
        for turn in range(PAIRS):
            order = list(worlds) if turn % 2 == 0 else list(reversed(worlds))
            for who in order:
                times[who].append(worlds[who].step(STEPS))
        for world in worlds.values():
            world.end()
        medians = ", ".join(f"{who} {statistics.median(values):.2f} ms" for who, values in times.items())
        print(f"{name}: {medians}")
        for other in ("python", "reducer"):
            if other in times:
                ratio = statistics.median(a / b for a, b in zip(times["ours"], times[other]))
                row = f"ddp/{name}/{other}"
                missed += not goals.is_met(row, ratio)
                sides = {who: {"wall_ms": round(statistics.median(times[key]), 2)} for who, key in (("ours", "ours"), ("peer", other))}
                print(f"  step, share of {other}'s: {ratio:.3f}  {goals.note(row, ratio, pairs=PAIRS, **sides)}")
        starts.append((worlds["ours"].start, worlds["python"].start))
        print(f"  start to the first step: {worlds['ours'].start:.2f} s, python's {worlds['python'].start:.2f} s", flush=True)
    ratio = statistics.median(a / b for a, b in starts)
    missed += not goals.is_met("ddp/start", ratio)
    ours, peer = ({"wall_ms": round(statistics.median(side) * 1e3)} for side in zip(*starts))
    print(f"start to the first step, share of python's: {ratio:.3f}  {goals.note('ddp/start', ratio, ours=ours, peer=peer, pairs=len(starts))}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
