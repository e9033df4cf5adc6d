# SPDX-License-Identifier: MIT
"""A rank with torch's own DistributedDataParallel on a GPU: steps.py WIDTH BATCH LAYERS; see gpu_rank.cpp."""
import os
import sys
import time

import torch
import torch.distributed as dist

torch.manual_seed(1)
width, count, layers = (int(word) for word in sys.argv[1:4])
device = torch.device("cuda", int(os.environ["LOCAL_RANK"]) % torch.cuda.device_count())
torch.cuda.set_device(device)
dist.init_process_group("nccl", device_id=device)
parts = []
for i in range(layers):
    parts += [torch.nn.Linear(width, width), torch.nn.ReLU()] if i + 1 < layers else [torch.nn.Linear(width, 10)]
net = torch.nn.Sequential(*parts).to(device)
model = torch.nn.parallel.DistributedDataParallel(net, gradient_as_bucket_view=True)
batch, wanted = torch.randn(count, width, device=device), torch.randn(count, 10, device=device)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for line in sys.stdin:
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(int(line)):
        optimizer.zero_grad(set_to_none=True)
        torch.nn.functional.mse_loss(model(batch), wanted).backward()
        optimizer.step()
    torch.cuda.synchronize()
    if os.environ["RANK"] == "0":
        print((time.perf_counter() - start) * 1000 / int(line), flush=True)
sys.stdout.flush()
os._exit(0)
