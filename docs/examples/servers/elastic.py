# SPDX-License-Identifier: MIT
"""A training that goes on where it was when one of its ranks is killed.

    hpcml launch --nproc-per-node 2 --max-restarts 1 -- python elastic.py --kill-at 4     (or torchrun in its place)

All ranks are started again, perhaps fewer of them; each reads the newest checkpoint. --kill-at: rank 1 of the first start
kills itself there, as a node that fails would.
"""
import argparse
import os
import pathlib
import signal
import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=6)
parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("elastic"), help="that all nodes see")
parser.add_argument("--kill-at", type=int, default=0)
options = parser.parse_args()

restart = int(os.environ.get("TORCHELASTIC_RESTART_COUNT", "0"))
gpus = torch.cuda.is_available()
device = torch.device("cuda", int(os.environ["LOCAL_RANK"])) if gpus else torch.device("cpu")
dist.init_process_group("nccl" if gpus else "gloo")
rank = dist.get_rank()

torch.manual_seed(0)
module = nn.Sequential(nn.Linear(10, 10), nn.ReLU(), nn.Linear(10, 5)).to(device)
model = DistributedDataParallel(module, device_ids=[device.index] if gpus else None)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
newest, first = options.folder / "newest.pt", 0
if newest.exists():
    state = torch.load(newest, map_location=device)
    first = state["step"]
    module.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])  # with its momentum: else the steps behind it are others
if rank == 0:
    print(f"start {restart}: {dist.get_world_size()} ranks, from step {first}", flush=True)

for step in range(first + 1, options.steps + 1):
    torch.manual_seed(1000 * step + rank)  # the samples of a step do not depend on how often it was started
    inputs, labels = torch.randn(20, 10, device=device), torch.randn(20, 5, device=device)
    optimizer.zero_grad()
    nn.functional.mse_loss(model(inputs), labels).backward()
    if step == options.kill_at and rank == 1 and restart == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    optimizer.step()
    if rank == 0:
        options.folder.mkdir(parents=True, exist_ok=True)
        torch.save({"step": step, "model": module.state_dict(), "optimizer": optimizer.state_dict()}, newest.with_suffix(".part"))
        newest.with_suffix(".part").rename(newest)
    dist.barrier()  # a rank that is ahead is not killed between two others' checkpoints
if rank == 0:
    total = sum(parameter.double().sum().item() for parameter in module.parameters())
    print(f"ends at step {options.steps}, parameters sum to {total:.12f}", flush=True)
dist.destroy_process_group()
# With torch 2.13 a thread of Gloo that lets go of the last sum while Python takes itself down aborts the program: nothing is left to take down.
sys.stdout.flush()
os._exit(0)
