# SPDX-License-Identifier: MIT
"""A linear model on random numbers, data-parallel: one rank per GPU, or per process where there is none."""
import os
import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

gpus = torch.cuda.is_available()
dist.init_process_group("nccl" if gpus else "gloo")
rank, local_rank = dist.get_rank(), int(os.environ["LOCAL_RANK"])
# With one visible GPU per rank (--gpu-visibility own) that is device 0.
device = torch.device("cuda", local_rank % torch.cuda.device_count()) if gpus else torch.device("cpu")
if gpus:
    torch.cuda.set_device(device)

# The sampler deals out indices of one data set: it has to be the same on all ranks.
torch.manual_seed(0)
inputs = torch.randn(1000, 10)
data = TensorDataset(inputs, inputs @ torch.randn(10, 1) + 0.1 * torch.randn(1000, 1))
sampler = DistributedSampler(data)
loader = DataLoader(data, batch_size=32, sampler=sampler)
model = DistributedDataParallel(nn.Linear(10, 1).to(device), device_ids=[device.index] if gpus else None)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for epoch in range(5):
    sampler.set_epoch(epoch)
    total = torch.zeros(2, device=device)
    for batch, target in loader:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(batch.to(device)), target.to(device))
        loss.backward()
        optimizer.step()
        total += torch.tensor([loss.item() * len(batch), len(batch)], device=device)
    dist.all_reduce(total)
    if rank == 0:
        print(f"epoch {epoch}: loss {total[0] / total[1]:.4f} over {int(total[1])} samples of {dist.get_world_size()} ranks",
              flush=True)
dist.destroy_process_group()
# With torch 2.13 a thread of Gloo that lets go of the last sum while Python takes itself down aborts the program: nothing is left to take down.
sys.stdout.flush()
os._exit(0)
