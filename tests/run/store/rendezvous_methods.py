#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A rank that meets the others in the ways that programs have; its place comes from RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT.

    rendezvous_methods.py PRIVATE_PORT [PART…]

PART: default (env://, groups, barriers), private (a tcp:// group on PRIVATE_PORT, as libraries make beside a program's own), shared (a
TCPStore(is_master=True) on MASTER_PORT beside the default group), store (that alone, handed to init_process_group). Prints "met" at the end.
"""
import datetime
import os
import sys

import torch
import torch.distributed as dist

LIMIT = datetime.timedelta(seconds=float(os.environ.get("MEET_LIMIT", "300")))
RANK, SIZE = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
ADDRESS, PORT = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])


def sum_of_ranks(group):
    value = torch.tensor([RANK + 1.0])
    group.allreduce([value]).wait()
    assert value.item() == SIZE * (SIZE + 1) / 2, value


def use_groups():
    value = torch.tensor([RANK + 1.0])
    dist.all_reduce(value)
    assert value.item() == SIZE * (SIZE + 1) / 2, value
    for ranks in ([0, 1], list(range(SIZE))):
        group = dist.new_group(ranks, timeout=LIMIT)
        if RANK in ranks:
            value = torch.ones(1)
            dist.all_reduce(value, group=group)
            assert value.item() == len(ranks), value
    dist.barrier()
    dist.monitored_barrier(timeout=LIMIT)


def use_store(store):
    store.set(f"mine/{RANK}", str(RANK))
    for other in range(SIZE):
        assert store.get(f"mine/{other}") == str(other).encode()
    assert store.add("sum", 1) >= 1


def private_group(port):
    store, rank, size = next(dist.rendezvous(f"tcp://127.0.0.1:{port}?rank={RANK}&world_size={SIZE}", timeout=LIMIT))
    return store, dist.ProcessGroupGloo(dist.PrefixStore("private", store), rank, size, LIMIT)


def main():
    parts = sys.argv[2:] or ["default", "private", "shared"]
    kept = []
    if "store" in parts:
        store = dist.TCPStore(ADDRESS, PORT, SIZE, RANK == 0, LIMIT)
        use_store(store)
        dist.init_process_group("gloo", store=store, rank=RANK, world_size=SIZE, timeout=LIMIT)
        use_groups()
    if "shared" in parts:
        kept.append(dist.TCPStore(ADDRESS, PORT, SIZE, RANK == 0, LIMIT, multi_tenant=True))
        use_store(kept[-1])
    if "default" in parts:
        dist.init_process_group("gloo", timeout=LIMIT)
        use_groups()
    if "private" in parts:
        kept += private_group(int(sys.argv[1]))
        sum_of_ranks(kept[-1])
    if dist.is_initialized():
        dist.barrier()  # rank 0 may hold a store that the others still need
        dist.destroy_process_group()
    print(f"met {torch.__version__}", flush=True)


main()
