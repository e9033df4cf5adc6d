# SPDX-License-Identifier: MIT
"""A rank of tests/bench/ddp.py with torch's own DistributedDataParallel: ddp_step.py WIDTH BATCH; see ddp_step.cpp."""
import os
import sys
import time

import torch
import torch.distributed as dist

torch.set_num_threads(1)
torch.manual_seed(1)
width, count = int(sys.argv[1]), int(sys.argv[2])
dist.init_process_group("gloo")
linear = torch.nn.Linear
net = torch.nn.Sequential(linear(width, width), torch.nn.ReLU(), linear(width, width), torch.nn.ReLU(), linear(width, 10))
model = torch.nn.parallel.DistributedDataParallel(net)
batch, wanted = torch.randn(count, width), torch.randn(count, 10)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for line in sys.stdin:
    times = []
    for _ in range(int(line)):
        start = time.perf_counter()
        optimizer.zero_grad(set_to_none=True)
        torch.nn.functional.mse_loss(model(batch), wanted).backward()
        optimizer.step()
        times.append((time.perf_counter() - start) * 1000)
    if os.environ["RANK"] == "0":
        print(*times, flush=True)
dist.destroy_process_group()
