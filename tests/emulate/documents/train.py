import os
import torch
import torch.distributed as dist

dist.init_process_group("nccl")
local_rank = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(local_rank)
dist.barrier()
if local_rank == 0:
    print("trained with", dist.get_world_size(), "ranks,", os.environ["OMP_NUM_THREADS"], "threads each", flush=True)
dist.destroy_process_group()
