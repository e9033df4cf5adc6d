#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A rank that adds up the ranks of its world, and does what its arguments say in the first start of all.

    torch_rank.py [raise RANK | exit RANK CODE | hang RANK | wait FILE]

raise: the rank ends by an exception in a function under torch's @record; hang: it leaves the others alone in an
all_reduce; wait: each rank writes FILE.RANK and waits until FILE is there. Prints "sum S of N, start K".
"""
import os
import sys
import time

import torch
import torch.distributed as dist
from torch.distributed.elastic.multiprocessing.errors import record

RANK, SIZE, START = (int(os.environ[name]) for name in ("RANK", "WORLD_SIZE", "TORCHELASTIC_RESTART_COUNT"))


def add_up():
    value = torch.tensor([RANK + 1.0])
    dist.all_reduce(value)
    return int(value.item())


def misbehave(words):
    if not words or START > 0:
        return
    if words[0] == "wait":
        open(f"{words[1]}.{RANK}", "w").close()
        while not os.path.exists(words[1]):
            time.sleep(0.05)
    elif int(words[1]) != RANK:
        # What the others see of it is not to come before its own end.
        time.sleep(0 if words[0] == "hang" else 3600)
    elif words[0] == "raise":
        raise ValueError("a bad batch")
    elif words[0] == "exit":
        os._exit(int(words[2]))
    elif words[0] == "hang":
        time.sleep(3600)


@record
def main():
    dist.init_process_group("gloo")
    print(f"first {add_up()}", flush=True)
    misbehave(sys.argv[1:])
    print(f"sum {add_up()} of {SIZE}, start {START}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


main()
