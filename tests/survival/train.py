#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""A training whose ranks one can hurt: tiny, in float64, the same to the last bit however often it is begun again.

    train.py [--steps N] [--pause SECONDS] [--every STEPS] [--hurt HOW --rank R --at STEP]

Rank 0 writes a checkpoint beside the last one and renames it, every few steps and when the ranks are asked to save (HPCML_SAVE_SIGNAL or
TERM); it lies in HPCML_CHECKPOINT_DIR, where there is one. At the end rank 0 prints "final" and a hash of the weights. Each rank has a
child that heeds nobody, or (--child-leaves) goes when its parent has gone, as torch's data loaders do. What hurts itself writes when it did
so into the file "cause" of its folder, and only once.
"""
import argparse
import hashlib
import io
import os
import signal
import subprocess
import sys
import threading
import time

ASKED = []
for name in {os.environ.get("HPCML_SAVE_SIGNAL", "TERM"), "TERM"}:
    signal.signal(getattr(signal, "SIG" + name), lambda number, frame: ASKED.append(number))


def say(*words):
    os.write(1, (" ".join(str(word) for word in words) + "\n").encode())


def comes_until(has_begun):
    """A sign of life each 5 s: on a busy machine torch alone takes longer to come than a row waits for one that hangs."""
    while not has_begun.wait(5):
        say("rank", os.environ["RANK"], "comes")


BEGUN = threading.Event()
threading.Thread(target=comes_until, args=[BEGUN], daemon=True).start()

import torch  # noqa: E402  (what comes meanwhile is heard)
import torch.distributed as dist  # noqa: E402


def hurt(how):
    with open("cause.part", "w", encoding="utf-8") as file:
        file.write(repr(time.time()))
    os.rename("cause.part", "cause")
    if how == "exit":
        os._exit(3)
    if how == "raise":
        raise ValueError("the data has a hole")
    if how == "segv":
        os.kill(os.getpid(), signal.SIGSEGV)
    if how == "hang":
        while True:
            time.sleep(1000)


def save(path, step, model, optimizer):
    whole = io.BytesIO()  # torch's own writer aborts where a disk is full
    torch.save({"step": step, "model": model.state_dict(), "optimizer": optimizer.state_dict()}, whole)
    with open(path + ".part", "wb") as file:
        file.write(whole.getbuffer())
    os.replace(path + ".part", path)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--pause", type=float, default=0.0)
    parser.add_argument("--every", type=int, default=5)
    parser.add_argument("--width", type=int, default=16, help="of the one layer: larger checkpoints")
    parser.add_argument("--child-leaves", action="store_true")
    parser.add_argument("--hurt", choices=["exit", "raise", "segv", "hang"])
    parser.add_argument("--rank", type=int, default=1)
    parser.add_argument("--at", type=int, default=10)
    words = parser.parse_args()
    rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    torch.set_num_threads(1)
    torch.manual_seed(1)
    stays = "while kill -0 $PPID 2>/dev/null; do sleep 1; done" if words.child_leaves else "exec sleep 100000"
    child = subprocess.Popen(["sh", "-c", stays], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    model = torch.nn.Linear(words.width, words.width, dtype=torch.float64)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    dist.init_process_group("gloo")
    directory = os.environ.get("HPCML_CHECKPOINT_DIR")
    path = os.path.join(directory, "state.pt") if directory else None
    first = 0
    if path and os.path.exists(path):
        state = torch.load(path)
        first = state["step"]
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
    dist.barrier()  # nobody writes the next one before all have read this one
    BEGUN.set()
    say("rank", rank, "of", size, "begins at step", first, "at", os.environ["MASTER_ADDR"] + ":" + os.environ["MASTER_PORT"])
    for step in range(first, words.steps):
        if words.hurt and rank == words.rank and step == words.at and not os.path.exists("cause"):
            hurt(words.hurt)
        torch.manual_seed(1000 * step + rank)
        model(torch.randn(4, words.width, dtype=torch.float64)).square().mean().backward()
        for parameter in model.parameters():
            dist.all_reduce(parameter.grad)
            parameter.grad /= size
        optimizer.step()
        optimizer.zero_grad()
        stop = torch.tensor([float(len(ASKED))])
        dist.all_reduce(stop)  # one that was asked is enough, and all stop at the same step
        if rank == 0 and path and (stop.item() > 0 or (step + 1) % words.every == 0):
            save(path, step + 1, model, optimizer)
        if stop.item() > 0:
            dist.barrier()
            say("rank", rank, "has saved step", step + 1)
            break
        time.sleep(words.pause)
    else:
        if rank == 0:
            say("final", hashlib.sha256(b"".join(p.detach().numpy().tobytes() for p in model.parameters())).hexdigest())
        dist.barrier()
    child.kill()
    child.wait()
    sys.stdout.flush()
    os._exit(0)  # rank 0's store goes with it; all have passed the barrier


main()
