import os
import tempfile
import torch.distributed as dist

rank, world = int(os.environ["SLURM_PROCID"]), int(os.environ["SLURM_NTASKS"])
os.environ["MASTER_ADDR"] = os.environ["FIRST"]
os.environ["MASTER_PORT"] = "12335"
dist.init_process_group("gloo", rank=rank, world_size=world)
CHECKPOINT_PATH = tempfile.gettempdir() + "/model.checkpoint"
print("before, rank", rank, os.path.exists(CHECKPOINT_PATH), flush=True)
dist.barrier()
if rank == 0:
    open(CHECKPOINT_PATH, "w").close()
dist.barrier()
print("saved, rank", rank, os.path.exists(CHECKPOINT_PATH), flush=True)
dist.barrier()
