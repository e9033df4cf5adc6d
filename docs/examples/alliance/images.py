# SPDX-License-Identifier: MIT
"""Trains a small convolutional network on one GPU or on several CPUs, and says how many images it takes a second.

The same program for both: with more --cpus-per-task torch works with more threads (intra-op) and needs no change; on a
GPU a larger --batch-size and as many --num-workers as cores keep it busy. --data is a folder with CIFAR-10's binary
files (data_batch_1.bin, …); without it images are made up, so that nothing has to be fetched.
"""
import argparse
import os
import pathlib
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", type=int, default=32)
parser.add_argument("--num-workers", type=int, default=0)
parser.add_argument("--lr", type=float, default=0.003)
parser.add_argument("--images", type=int, default=2000, help="how many are made up")
parser.add_argument("--data", type=pathlib.Path)
options = parser.parse_args()


def read_images():
    """Images as float (N, 3, 32, 32) in 0..1 and labels as int64 (N)."""
    if options.data is None:
        torch.manual_seed(1)
        labels = torch.randint(0, 10, (options.images,))
        # A bright row tells the class: something to learn.
        images = 0.5 * torch.rand(options.images, 3, 32, 32)
        images[torch.arange(options.images), :, 3 * labels + 1, :] += 0.5
        return images, labels
    raw = b"".join(path.read_bytes() for path in sorted(options.data.glob("data_batch_*.bin")))
    records = torch.frombuffer(bytearray(raw), dtype=torch.uint8).view(-1, 3073)
    return records[:, 1:].view(-1, 3, 32, 32).float() / 255, records[:, 0].long()


# hpcml launch sets OMP_NUM_THREADS to the rank's cores; without it torch would take what the machine has.
if "OMP_NUM_THREADS" not in os.environ:
    torch.set_num_threads(len(os.sched_getaffinity(0)))
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(0)
model = nn.Sequential(nn.Conv2d(3, 6, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2),
                      nn.Flatten(), nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 10)).to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=options.lr)
loader = DataLoader(TensorDataset(*read_images()), batch_size=options.batch_size, num_workers=options.num_workers,
                    shuffle=True, pin_memory=device.type == "cuda")
print(f"{device}, {torch.get_num_threads()} threads, {options.num_workers} loaders, TF32 for products "
      f"{'on' if torch.backends.cuda.matmul.allow_tf32 else 'off'}, for convolutions "
      f"{'on' if torch.backends.cudnn.allow_tf32 else 'off'}", flush=True)

begin, count, first = time.perf_counter(), 0, None
for images, labels in loader:
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(images.to(device, non_blocking=True)), labels.to(device, non_blocking=True))
    loss.backward()
    optimizer.step()
    count += len(labels)
    first = loss.item() if first is None else first
print(f"loss {first:.3f} at first, {loss.item():.3f} at last; {count / (time.perf_counter() - begin):.0f} images a second")
