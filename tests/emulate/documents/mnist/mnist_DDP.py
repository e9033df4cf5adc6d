import os
import torch.distributed as dist

dist.init_process_group("nccl")
dist.barrier()
print("rank", os.environ["RANK"], "of", dist.get_world_size(), "GPU", os.environ["ROCR_VISIBLE_DEVICES"], "cache",
      os.path.isdir(os.environ["MIOPEN_USER_DB_PATH"]), flush=True)
