# SPDX-License-Identifier: MIT
"""Handwritten digits with a small convolutional network, data-parallel: what LUMI's page does with MNIST.

The digits are those of scikit-learn's package (8 x 8 pixels; --data FILE for another place), so that no node needs the
internet; without the file they are drawn at random, and only the machinery is tried. --modelpath: a folder for the model.
"""
import argparse
import gzip
import os
import pathlib
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

parser = argparse.ArgumentParser()
parser.add_argument("--gpu", action="store_true", help="insist on GPUs")
parser.add_argument("--modelpath", type=pathlib.Path, default=pathlib.Path("model"))
parser.add_argument("--data", type=pathlib.Path,
                    default=pathlib.Path("/usr/lib/python3/dist-packages/sklearn/datasets/data/digits.csv.gz"))
parser.add_argument("--epochs", type=int, default=2)
options = parser.parse_args()


def read_digits():
    if not options.data.exists():
        torch.manual_seed(1)
        return torch.rand(1797, 1, 8, 8), torch.randint(0, 10, (1797,))
    with gzip.open(options.data, "rt") as lines:
        table = torch.tensor([[float(value) for value in line.split(",")] for line in lines])
    return table[:, :64].reshape(-1, 1, 8, 8) / 16, table[:, 64].long()


gpus = torch.cuda.is_available()
if options.gpu and not gpus:
    raise SystemExit("torch sees no GPU; hpcml doctor says why")
dist.init_process_group("nccl" if gpus else "gloo")
rank, local_rank = dist.get_rank(), int(os.environ["LOCAL_RANK"])
device = torch.device("cuda", local_rank % torch.cuda.device_count()) if gpus else torch.device("cpu")
if gpus:
    torch.cuda.set_device(device)

images, labels = read_digits()
held_out = torch.arange(len(labels)) % 5 == 0
train = TensorDataset(images[~held_out], labels[~held_out])
sampler = DistributedSampler(train)
loader = DataLoader(train, batch_size=32, sampler=sampler)
torch.manual_seed(0)
module = nn.Sequential(nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(256, 10)).to(device)
model = DistributedDataParallel(module, device_ids=[device.index] if gpus else None)
optimizer = torch.optim.Adam(model.parameters(), lr=0.003)
for epoch in range(options.epochs):
    begin = time.perf_counter()
    sampler.set_epoch(epoch)
    for batch, target in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(batch.to(device)), target.to(device))
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        right = (module(images[held_out].to(device)).argmax(1) == labels[held_out].to(device)).float().mean().item()
    if rank == 0:
        print(f"epoch {epoch}: {dist.get_world_size()} ranks, {100 * right:.1f} % right, {len(train) / (time.perf_counter() - begin):.0f} images a second",
              flush=True)
if rank == 0:
    options.modelpath.mkdir(parents=True, exist_ok=True)
    torch.save(module.state_dict(), options.modelpath / "digits.pt")
    print("saved", options.modelpath / "digits.pt", flush=True)
dist.destroy_process_group()
