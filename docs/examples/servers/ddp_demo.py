# SPDX-License-Identifier: MIT
"""DistributedDataParallel in its three forms: a model on one device, with a checkpoint, and a model over two devices.

    hpcml launch --nproc-per-node 2 -- python ddp_demo.py basic
    hpcml launch --nproc-per-node 2 -- python ddp_demo.py checkpoint --folder checkpoints
    hpcml launch --nproc-per-node 2 -- python ddp_demo.py model-parallel

A launcher starts the ranks; the program starts none. Where there are fewer GPUs than it takes, it uses the CPU.
"""
import argparse
import os
import pathlib
import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

parser = argparse.ArgumentParser()
parser.add_argument("form", choices=["basic", "checkpoint", "model-parallel"])
parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("checkpoints"), help="that all nodes see")
options = parser.parse_args()


class ToyModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.net1, self.net2 = nn.Linear(10, 10), nn.Linear(10, 5)

    def forward(self, x):
        return self.net2(torch.relu(self.net1(x)))


class TwoDeviceModel(ToyModel):
    """The first layer on one device, the second on another: for models that no one device holds."""

    def __init__(self, first, second):
        super().__init__()
        self.first, self.second = first, second
        self.net1.to(first)
        self.net2.to(second)

    def forward(self, x):
        return self.net2(torch.relu(self.net1(x.to(self.first))).to(self.second))


def devices(per_rank):
    """This rank's devices, by its place on the node."""
    local_rank, ranks = int(os.environ["LOCAL_RANK"]), int(os.environ["LOCAL_WORLD_SIZE"])
    if torch.cuda.device_count() < per_rank * ranks:
        return [torch.device("cpu")] * per_rank
    return [torch.device("cuda", per_rank * local_rank + i) for i in range(per_rank)]


def step(model, device):
    """One step on the rank's own samples; the loss."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
    torch.manual_seed(dist.get_rank())
    inputs, labels = torch.randn(20, 10), torch.randn(20, 5).to(device)
    loss = nn.functional.mse_loss(model(inputs), labels)
    loss.backward()
    optimizer.step()
    return loss.item()


def agree(model):
    """Whether the parameters are the same on all ranks: what DDP promises after a step."""
    mine = torch.cat([p.detach().flatten().cpu().double() for p in model.parameters()])
    if dist.get_backend() == "nccl":
        mine = mine.cuda()
    lowest, highest = mine.clone(), mine.clone()
    dist.all_reduce(lowest, dist.ReduceOp.MIN)
    dist.all_reduce(highest, dist.ReduceOp.MAX)
    return bool(torch.equal(lowest, highest))


def wrap(module, device):
    return DistributedDataParallel(module, device_ids=[device.index] if device.type == "cuda" else None)


def run_checkpoint(device):
    model = wrap(ToyModel().to(device), device)
    path = options.folder / "model.pt"
    if dist.get_rank() == 0:
        options.folder.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(".part")
        torch.save(model.module.state_dict(), unfinished)
        unfinished.rename(path)  # whole, or not there
    dist.barrier()  # nobody reads before it is written
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
    model.module.load_state_dict(torch.load(path, map_location=device))
    assert any(parameter.abs().sum() > 0 for parameter in model.parameters()), "nothing was loaded"
    dist.barrier()  # nobody removes it before all have read
    if dist.get_rank() == 0:
        path.unlink()
    return model


torch.manual_seed(0)
per_rank = 2 if options.form == "model-parallel" else 1
mine = devices(per_rank)
if mine[0].type == "cuda":
    torch.cuda.set_device(mine[0])
dist.init_process_group("nccl" if mine[0].type == "cuda" else "gloo")
if options.form == "model-parallel":
    # Over several devices DDP must not be told one (device_ids).
    model = DistributedDataParallel(TwoDeviceModel(*mine))
else:
    model = run_checkpoint(mine[0]) if options.form == "checkpoint" else wrap(ToyModel().to(mine[0]), mine[0])
loss = step(model, mine[-1])
print(f"rank {dist.get_rank()} of {dist.get_world_size()}, {options.form} on {', '.join(map(str, mine))}: loss {loss:.3f}, "
      f"ranks {'agree' if agree(model) else 'DIFFER'}", flush=True)
dist.destroy_process_group()
# With torch 2.13 a thread of Gloo that lets go of the last sum while Python takes itself down aborts the program: nothing is left to take down.
sys.stdout.flush()
os._exit(0)
