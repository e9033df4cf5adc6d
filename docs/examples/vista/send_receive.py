# SPDX-License-Identifier: MIT
"""Rank 0 sends every other rank a tensor, which that one compares with what it should be.

Under an MPI launcher (ibrun, mpirun, srun --mpi) ranks and the place to meet come from MPI by mpi4py; under hpcml launch
or torchrun from the environment, and mpi4py is not needed. NCCL where there are GPUs, else Gloo.
"""
import argparse
import os
import socket

import torch
import torch.distributed as dist

parser = argparse.ArgumentParser()
parser.add_argument("--backend", choices=["nccl", "gloo"])
parser.add_argument("--numbers", type=int, default=1000000)
options = parser.parse_args()


def set_ranks_from_mpi():
    from mpi4py import MPI  # starts MPI, which only ranks of MPI should

    world = MPI.COMM_WORLD
    node = world.Split_type(MPI.COMM_TYPE_SHARED)
    os.environ.update(RANK=str(world.rank), WORLD_SIZE=str(world.size), LOCAL_RANK=str(node.rank))
    # A free port of rank 0's node, told to all: a fixed one may be another job's.
    with socket.socket() as probe:
        probe.bind(("", 0))
        place = (socket.gethostname(), probe.getsockname()[1])
    os.environ["MASTER_ADDR"], port = world.bcast(place)
    os.environ["MASTER_PORT"] = str(port)


if "RANK" not in os.environ:
    set_ranks_from_mpi()
gpus = torch.cuda.device_count()
backend = options.backend or ("nccl" if gpus else "gloo")
if backend == "nccl" and not gpus:
    print("no GPU: gloo instead of nccl")
    backend = "gloo"
device = torch.device("cuda", int(os.environ["LOCAL_RANK"]) % gpus) if backend == "nccl" else torch.device("cpu")
if device.type == "cuda":
    torch.cuda.set_device(device)
dist.init_process_group(backend)
rank = dist.get_rank()
expected = torch.arange(options.numbers, dtype=torch.float32, device=device)
if rank == 0:
    for other in range(1, dist.get_world_size()):
        dist.send(expected, dst=other)
    print(f"rank 0 on {socket.gethostname()} sent {options.numbers} numbers to {dist.get_world_size() - 1} ranks by {backend}", flush=True)
else:
    received = torch.zeros(options.numbers, device=device)
    dist.recv(received, src=0)
    assert torch.equal(received, expected), f"rank {rank} got other numbers"
    print(f"rank {rank} on {socket.gethostname()} got what was sent", flush=True)
dist.destroy_process_group()
