import os
import argparse

from mpi4py import MPI

import torch
import torch.distributed as dist

# use mpi4py to get the world size and tasks rank
WORLD_SIZE = MPI.COMM_WORLD.Get_size()
WORLD_RANK = MPI.COMM_WORLD.Get_rank()

# use the convention that gets the local rank based on how many
# GPUs there are on the node.
GPU_ID = WORLD_RANK % torch.cuda.device_count()
name = MPI.Get_processor_name()

def run(backend):
    tensor = torch.randn(10000, 10000)
    print("Starting process on " + name + ":" + torch.cuda.get_device_name(GPU_ID), flush=True)
    if WORLD_RANK == 0:
        for rank_recv in range(1, WORLD_SIZE):
            dist.send(tensor=tensor, dst=rank_recv)
            print('worker_{} sent data to Rank {}\n'.format(0, rank_recv), flush=True)
    else:
        dist.recv(tensor=tensor, src=0)
        print('worker_{} has received data from rank {}\n'.format(WORLD_RANK, 0), flush=True)

def init_processes(backend, master_address):
    print("World Rank: %s, World Size: %s, GPU_ID: %s" % (WORLD_RANK, WORLD_SIZE, GPU_ID), flush=True)
    os.environ["MASTER_ADDR"] = master_address
    os.environ["MASTER_PORT"] = "12355"
    dist.init_process_group(backend, rank=WORLD_RANK, world_size=WORLD_SIZE)
    run(backend)

if __name__ == "__main__":

    parser = argparse.ArgumentParser()
    parser.add_argument("master_node", type=str)
    parser.add_argument("--backend", type=str, default="nccl", choices=['nccl', 'gloo'])
    args = parser.parse_args()
    backend = args.backend
    if torch.cuda.device_count() == 0:
        print("No gpu detected...switching to gloo for backend")
        backend = "gloo"
    init_processes(backend=backend, master_address=args.master_node)
    dist.destroy_process_group()
