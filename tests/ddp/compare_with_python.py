#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Trains the same models with hpcml::ddp and with torch's own DistributedDataParallel and compares all weights and buffers, bit by bit:
compare_with_python.py DDP_RANK   (a Python whose torch is the one that DDP_RANK was built with)

Both have the same buckets, and divide before they sum, so also the sums of several ranks have the same order. Without arguments behind
it this is the driver; `compare_with_python.py rank FILE` is one rank of torch's, for all cases of its world size, one after another:
importing torch takes longer than a case. FILE has a JSON array of them: model, width, bytes of a bucket, file to write.
"""
import json
import math
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

sys.dont_write_bytecode = True  # nothing is left beside the sources
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "gpu"))
from world import free_port, rank_variables

# model, width, bytes of a bucket, ranks
CASES = [("mlp", 13, 25 << 20, 2), ("mlp", 13, 400, 3), ("mlp", 300, 1 << 20, 4), ("shared", 13, 500, 3), ("batchnorm", 13, 25 << 20, 2),
         ("unused", 13, 25 << 20, 2), ("mixed", 13, 400, 3), ("bf16", 13, 400, 3), ("compressed", 13, 400, 3), ("join", 13, 25 << 20, 3), ("join-batchnorm", 13, 400, 2)]
STEPS = 6


def number(k, i):
    return 0.5 * math.sin(0.7 * i + 1.3 * (k + 1))


def make_model(torch, kind, width):
    nn = torch.nn

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.first = nn.Linear(7, width)
            precision = {"mixed": torch.float64, "bf16": torch.bfloat16}.get(kind, torch.float32)
            self.second = nn.Linear(width, width, dtype=precision)
            if kind == "batchnorm":
                self.norm = nn.BatchNorm1d(width)
            if kind == "unused":
                self.sometimes = nn.Linear(width, width)
                self.never = nn.Linear(3, 5)
            self.last = nn.Linear(width, 3)

        def forward(self, x, branch):
            x = torch.tanh(self.second(torch.tanh(self.first(x)).to(self.second.weight.dtype))).to(self.last.weight.dtype)
            if kind == "batchnorm":
                x = self.norm(x)
            if kind == "shared":
                x = torch.tanh(self.second(x))
            if kind == "unused" and branch:
                x = x + torch.tanh(self.sometimes(x))
            return self.last(x)

    model = Model()
    with torch.no_grad():
        for k, parameter in enumerate(model.parameters()):
            values = torch.tensor([number(k, i) for i in range(parameter.numel())], dtype=torch.float64)
            parameter.copy_(values.view(parameter.shape))
    return model


def run_rank(cases_file):
    import torch
    import torch.distributed as dist

    torch.set_num_threads(1)
    gpu = torch.cuda.is_available()
    dist.init_process_group("nccl" if gpu else "gloo")
    device = torch.device("cuda", dist.get_rank() % torch.cuda.device_count()) if gpu else torch.device("cpu")
    with open(cases_file, encoding="utf-8") as cases:
        for case in json.load(cases):
            run_case(torch, dist, device, *case)
    dist.destroy_process_group()
    # With torch 2.13 a thread of Gloo that lets go of the last sum while Python takes itself down aborts the program: what is compared is written.
    sys.stdout.flush()
    os._exit(0)


def run_case(torch, dist, device, kind, width, bucket_bytes, file):
    rank = dist.get_rank()
    # Limits below a MiB can be given to the class only so; the first bucket's is a constant of the library.
    joins, kind = kind.startswith("join"), kind.removeprefix("join").lstrip("-") or "mlp"
    net = make_model(torch, kind, width).to(device)
    dist._DEFAULT_FIRST_BUCKET_BYTES = bucket_bytes
    model = torch.nn.parallel.DistributedDataParallel(net, bucket_cap_mb=bucket_bytes / 2**20, gradient_as_bucket_view=True,
                                                      find_unused_parameters=kind == "unused")
    if kind == "compressed":
        from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import fp16_compress_hook
        model.register_comm_hook(None, fp16_compress_hook)
    # LibTorch's C++ rounds the factor of mul_ to bf16, which Python does not: without momentum there is none.
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0 if kind == "bf16" else 0.9)
    # With join rank r ends r steps before rank 0.
    with model.join(enable=joins):
        train(torch, model, optimizer, rank, STEPS - rank if joins else STEPS, device)
    with open(f"{file}.{rank}", "wb") as out:
        for tensor in [*net.parameters(), *net.buffers()]:
            out.write(bytes(tensor.detach().cpu().reshape(-1).view(torch.uint8).tolist()))


def train(torch, model, optimizer, rank, steps, device):
    for step in range(steps):
        first = step * 50 + rank * 4
        inputs = [[number(100 + first + i, 3 * j + 1) for j in range(7)] for i in range(4)]
        wanted = [[number(900 + first + i, 5 * j + 2) for j in range(3)] for i in range(4)]
        inputs, wanted = (torch.tensor(values, dtype=torch.float64).float().to(device) for values in (inputs, wanted))
        optimizer.zero_grad(set_to_none=True)
        (model(inputs, (rank + step) % 2 == 1) - wanted).square().mean().backward()
        optimizer.step()


def run_world(command, ranks):
    port, gpus = free_port(), int(os.environ.get("HPCML_RANK_GPUS", ranks))
    places = [{**os.environ, **rank_variables(rank, ranks, gpus, port), "OMP_NUM_THREADS": "1"} for rank in range(ranks)]
    return [process.wait(600) for process in [subprocess.Popen(command, env=place) for place in places]]


def compare_samplers(program):
    from torch.utils.data import DistributedSampler

    sizes = ((10, 1), (10, 4), (12, 4), (3, 7), (1, 2), (1000, 3))
    orders = ((True, 0, False), (True, 5, True), (False, 1, False), (False, 0, True))
    cases = "".join(f"{size} {ranks} 11 {epoch} {int(shuffle)} {int(drop_last)}\n" for size, ranks in sizes for shuffle, epoch, drop_last in orders)
    done = subprocess.run([program, "sampler"], input=cases, capture_output=True, text=True, check=True)
    lines = iter(done.stdout.splitlines())
    wrong = 0
    for size, ranks in sizes:
        for shuffle, epoch, drop_last in orders:
            ours = [[int(word) for word in next(lines, "").split()] for _ in range(ranks)]
            theirs = []
            for rank in range(ranks):
                sampler = DistributedSampler(range(size), ranks, rank, shuffle, 11, drop_last)
                sampler.set_epoch(epoch)
                theirs.append(list(sampler))
            if ours != theirs:
                print(f"{size} samples, {ranks} ranks, shuffle {shuffle}, epoch {epoch}, drop_last {drop_last}: DIFFERENT")
                wrong += 1
    print(f"samplers: {wrong} of 24 different")
    return wrong


def main():
    if sys.argv[1] == "rank":
        return run_rank(sys.argv[2])
    wrong = compare_samplers(sys.argv[1])
    import torch

    # In 1.x torch's own does not end with join-batchnorm, and Gloo has no sum of bf16.
    cases = [case for case in CASES if case[0] not in ("join-batchnorm", "bf16") or not torch.__version__.startswith("1.")]
    # One at a time where processors are few.
    at_once = int(os.environ.get("HPCML_BESIDE_AT_ONCE", "1"))
    with tempfile.TemporaryDirectory() as directory, ThreadPoolExecutor(at_once) as pool:
        widths = sorted({case[3] for case in cases})
        reference_codes = dict(zip(widths, pool.map(lambda ranks: run_references(directory, cases, ranks), widths)))
        return 1 if wrong + sum(pool.map(lambda case: compare(sys.argv[1], directory, reference_codes[case[3]], *case), cases)) else 0


def reference_file(directory, kind, width, bucket_bytes, ranks):
    return f"{directory}/{kind}-{width}-{bucket_bytes}-{ranks}"


def run_references(directory, cases, ranks):
    """Trains all cases of a world size with torch's own. Returns the exit codes of its ranks."""
    cases_file = f"{directory}/cases-{ranks}"
    with open(cases_file, "w", encoding="utf-8") as file:
        json.dump([(*case[:3], reference_file(directory, *case)) for case in cases if case[3] == ranks], file)
    return run_world([sys.executable, "-W", "ignore", __file__, "rank", cases_file], ranks)


def compare(program, directory, reference_codes, kind, width, bucket_bytes, ranks):
    """Whether both end with other weights or buffers."""
    reference = reference_file(directory, kind, width, bucket_bytes, ranks)
    model = kind.removeprefix("join").lstrip("-") or "mlp"
    words = [program, "train", "--model", model, "--width", str(width), "--bucket-bytes", str(bucket_bytes),
             "--steps", str(STEPS), "--write", f"{reference}-ours"]
    words += ["--join"] if kind.startswith("join") else ["--compress", "fp16"] if kind == "compressed" else []
    codes = run_world(words, ranks) + reference_codes
    # Each rank's buffers are its own but for rank 0's, which all have before the next step: compare like with like.
    same = not any(codes) and all(read_state(f"{reference}-ours.{rank}") == read_state(f"{reference}.{rank}") for rank in range(ranks))
    print(f"{kind}, width {width}, buckets of {bucket_bytes} bytes, {ranks} ranks: {'the same bits' if same else 'DIFFERENT'} {codes}", flush=True)
    return not same


def read_state(path):
    with open(path, "rb") as file:
        state = file.read()
    if not state:
        raise RuntimeError(f"{path} is empty")
    return state


if __name__ == "__main__":
    sys.exit(main())
