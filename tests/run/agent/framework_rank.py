#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A rank that asks a framework for its world, and adds up the ranks by it: framework_rank.py plain|lightning|accelerate|jax

Prints "NAME rank R of N sum S".
"""
import os
import sys


def plain():
    import torch
    import torch.distributed as dist
    dist.init_process_group("gloo")
    value = torch.tensor([dist.get_rank() + 1.0])
    dist.all_reduce(value)
    found = dist.get_rank(), dist.get_world_size(), int(value.item())
    dist.destroy_process_group()
    return found


def lightning():
    import logging
    import torch
    from lightning.fabric import Fabric
    logging.getLogger("lightning.fabric").setLevel(logging.ERROR)
    size = int(os.environ["LOCAL_WORLD_SIZE"])
    nodes = int(os.environ["WORLD_SIZE"]) // size
    fabric = Fabric(accelerator="cpu", devices=size, num_nodes=nodes, strategy="ddp")
    fabric.launch()
    value = fabric.all_reduce(torch.tensor([fabric.global_rank + 1.0]), reduce_op="sum")
    return fabric.global_rank, fabric.world_size, int(value.item())


def accelerate():
    import torch
    from accelerate import Accelerator
    accelerator = Accelerator(cpu=True)
    value = accelerator.reduce(torch.tensor([accelerator.process_index + 1.0]), reduction="sum")
    found = accelerator.process_index, accelerator.num_processes, int(value.item())
    accelerator.end_training()
    return found


def jax():
    import jax
    import jax.numpy as jnp
    from jax.experimental import multihost_utils
    jax.distributed.initialize(os.environ["JAX_COORDINATOR_ADDRESS"], int(os.environ["JAX_NUM_PROCESSES"]), int(os.environ["JAX_PROCESS_ID"]))
    rank = jax.process_index()
    values = multihost_utils.process_allgather(jnp.array([rank + 1.0]))
    return rank, jax.process_count(), int(values.sum())


def main():
    name = sys.argv[1]
    rank, size, total = {"plain": plain, "lightning": lightning, "accelerate": accelerate, "jax": jax}[name]()
    print(f"{name} rank {rank} of {size} sum {total}", flush=True)


main()
