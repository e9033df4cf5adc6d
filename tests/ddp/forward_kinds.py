#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares hpcml::ddp with torch's DistributedDataParallel after forward passes of every kind, bit by bit:
forward_kinds.py DDP_RANK   (a Python whose torch is the one that DDP_RANK was built with)

A kind is five digits: root in train mode, its child in train mode, gradients recorded, synchronised (0: in
no_sync), backward pass (0: none, 1: of this pass, 2: also of those before that had none). The first case has
every pair of kinds in succession, in an order of its seed; the others every pair of half of the kinds. After
each pass all outputs, gradients, buffers and parameters are compared. `forward_kinds.py rank FILE` is one rank of
torch's, for all cases of its world size, as in compare_with_python.py: a JSON array of file of kinds, file to
write, frozen part, further options.
"""
import contextlib
import itertools
import json
import os
import random
import struct
import sys
import tempfile
import zlib

sys.dont_write_bytecode = True  # nothing is left beside the sources
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from compare_with_python import make_model, number, run_world

MODES = ["000", "010", "100", "101", "102", "110", "111", "112"]
ALL_KINDS = [f"{root}{child}{rest}" for root, child, rest in itertools.product("01", "01", MODES)]
# Torch's own join can only end passes that have a backward pass.
JOIN_KINDS = [kind for kind in ALL_KINDS if kind[4] == "1"]
# Frozen part, ranks, further options.
CASES = [
    ("", 2, []),
    ("first", 2, ["--bucket-bytes", "300"]),
    ("norm", 3, ["--copies"]),
    ("second", 2, ["--own-buffers"]),
    ("", 2, ["--find-unused", "--bucket-bytes", "300"]),
    ("", 3, ["--join"]),
    ("last", 2, ["--join", "--copies"]),
]


def every_pair(kinds, seed):
    """A walk in which each kind follows each kind once: a circuit by Hierholzer's algorithm."""
    chance = random.Random(seed)
    unused = {kind: chance.sample(kinds, len(kinds)) for kind in kinds}
    path, walk = [chance.choice(kinds)], []
    while path:
        if unused[path[-1]]:
            path.append(unused[path[-1]].pop())
        else:
            walk.append(path.pop())
    assert len(set(itertools.pairwise(walk))) == len(kinds) ** 2
    return walk


def checksum(tensors):
    data = b""
    for tensor in tensors:
        if tensor is None:
            data += b"0"
            continue
        values = tensor.detach().reshape(-1).tolist()
        data += b"1" + struct.pack(f"{len(values)}{'f' if tensor.is_floating_point() else 'q'}", *values)
    return f"{zlib.crc32(data):x}"


def run_rank(cases_file):
    import torch
    import torch.distributed as dist

    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    with open(cases_file, encoding="utf-8") as cases:
        for case in json.load(cases):
            run_case(torch, dist, *case)
    dist.destroy_process_group()
    os._exit(0)  # as in compare_with_python.py


def run_case(torch, dist, kinds_file, out_file, frozen, options):
    rank = dist.get_rank()
    net = make_model(torch, "batchnorm", 5)
    for name, parameter in net.named_parameters():
        parameter.requires_grad_(not (frozen and name.startswith(frozen + ".")))
    bucket = int(options[options.index("--bucket-bytes") + 1]) if "--bucket-bytes" in options else 25 << 20
    dist._DEFAULT_FIRST_BUCKET_BYTES = bucket
    model = torch.nn.parallel.DistributedDataParallel(
        net,
        bucket_cap_mb=bucket / 2**20,
        gradient_as_bucket_view="--copies" not in options,
        broadcast_buffers="--own-buffers" not in options,
        find_unused_parameters="--find-unused" in options,
    )
    optimizer = torch.optim.SGD(net.parameters(), lr=0.02, momentum=0.9)
    with open(kinds_file, encoding="ascii") as file:
        kinds = file.read().split()
    joins = "--join" in options
    if joins:
        kinds = kinds[: len(kinds) - 5 * rank]
    with open(f"{out_file}.{rank}", "w", encoding="ascii") as out:
        with model.join(enable=joins):
            kept = []
            for step, kind in enumerate(kinds):
                run_pass(torch, rank, model, step, kind, kept, out)
                if kind[3] == "1" and kind[4] != "0":
                    optimizer.step()
                    optimizer.zero_grad(set_to_none=True)
                    kept.clear()
                out.write(f" parameters {checksum(net.parameters())}\n")
        out.write(f"end parameters {checksum(net.parameters())} buffers {checksum(net.buffers())}\n")


def run_pass(torch, rank, model, step, kind, kept, out):
    net = model.module
    root, child, records, syncs, backward = (int(digit) for digit in kind)
    net.train(bool(root))
    net.norm.train(bool(child))
    first = step * 50 + rank * 4
    inputs = [[number(100 + first + i, 3 * j + 1) for j in range(7)] for i in range(4)]
    wanted = [[number(900 + first + i, 5 * j + 2) for j in range(3)] for i in range(4)]
    inputs, wanted = (torch.tensor(values, dtype=torch.float64).float() for values in (inputs, wanted))
    with torch.set_grad_enabled(bool(records)), contextlib.nullcontext() if syncs else model.no_sync():
        loss = (model(inputs, False) - wanted).square().mean()
        out.write(f"{step} output {checksum([loss])}")
        if records and backward == 0:
            kept.append(loss)
        if backward == 2:
            for earlier in kept:
                loss = loss + earlier
        if backward:
            kept.clear()
            loss.backward()
    gradients = [parameter.grad for parameter in net.parameters()]
    out.write(f" gradients {checksum(gradients)} buffers {checksum(net.buffers())}")


def plan_walk(old, case, seed):
    """The kinds of a case, in their order."""
    options = case[2]
    kinds = JOIN_KINDS if "--join" in options else ALL_KINDS
    if old:  # torch 1.x refuses the backward pass of a graph whose buffers were sent since
        kinds = [kind for kind in kinds if kind[4] != "2"]
    if case is not CASES[0] and "--join" not in options:  # HPCML_FORWARD_SEEDS="1 2 3" covers more
        kinds = random.Random(f"{seed} {CASES.index(case)}").sample(kinds, len(kinds) // 2)
    return every_pair(kinds, seed)


def run_references(directory, runs, ranks):
    """Runs all cases of a world size with torch's own. Returns the exit codes of its ranks."""
    cases_file = f"{directory}/cases-{ranks}"
    with open(cases_file, "w", encoding="utf-8") as file:
        json.dump([(f"{base}.kinds", f"{base}.theirs", case[0], case[2]) for case, _, _, base in runs if case[1] == ranks], file)
    return run_world([sys.executable, "-W", "ignore", __file__, "rank", cases_file], ranks)


def compare(program, reference_codes, case, seed, walk, base):
    """Whether a rank of the two differs anywhere."""
    frozen, ranks, options = case
    words = [program, "forwards", "--kinds", f"{base}.kinds", "--write", f"{base}.ours", *options]
    words += ["--frozen", frozen] if frozen else []
    codes = run_world(words, ranks) + reference_codes
    difference = "" if not any(codes) else f"exit codes {codes}"
    for rank in range(ranks):
        outputs = []
        for name in ("ours", "theirs"):
            with open(f"{base}.{name}.{rank}", encoding="ascii") as file:
                outputs.append(file.readlines())
        lines = list(itertools.zip_longest(*outputs))
        if not difference and len(lines) < 50:
            difference = "too few passes"
        for step, (ours, theirs) in enumerate(lines):
            if ours != theirs and not difference:
                passes = walk[max(0, step - 3) : step + 1]
                difference = f"rank {rank}, passes {passes}\n  ours   {ours}  theirs {theirs}"
    case_name = f"frozen '{frozen}', {ranks} ranks, {' '.join(options)}, seed {seed}, {len(walk)} passes"
    print(f"{case_name}: {difference or 'the same bits'}", flush=True)
    return bool(difference)


def main():
    if sys.argv[1] == "rank":
        return run_rank(sys.argv[2])
    import torch

    old = torch.__version__.startswith("1.")
    seeds = [int(word) for word in os.environ.get("HPCML_FORWARD_SEEDS", "1").split()]
    with tempfile.TemporaryDirectory() as directory:
        runs = []
        for case in CASES:
            for seed in seeds:
                runs.append((case, seed, plan_walk(old, case, seed), f"{directory}/{len(runs)}"))
                with open(f"{runs[-1][3]}.kinds", "w", encoding="ascii") as file:
                    file.write("\n".join(runs[-1][2]))
        reference_codes = {ranks: run_references(directory, runs, ranks) for ranks in sorted({case[1] for case in CASES})}
        return 1 if sum(compare(sys.argv[1], reference_codes[run[0][1]], *run) for run in runs) else 0


if __name__ == "__main__":
    sys.exit(main())
