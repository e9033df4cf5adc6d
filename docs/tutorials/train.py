# SPDX-License-Identifier: MIT
"""A training that saves where it is and goes on from there: what the tutorials submit.

The model is one number, so that this runs anywhere. Yours stands where "the model" is written; what is around it stays:
the ranks are in the environment (hpcml launch has set them), rank 0 saves, a save is whole or is not there, and the
program ends well when there is nothing left to do.
"""
import argparse
import json
import os
import pathlib
import signal

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=6)
parser.add_argument("--steps-per-job", type=int, default=0, help="0: as many as the time limit allows")
parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("checkpoints"))
options = parser.parse_args()

rank, world_size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
# The model: torch.distributed.init_process_group() needs no arguments, MASTER_ADDR and MASTER_PORT are set, too;
# torch.cuda.set_device(int(os.environ["LOCAL_RANK"])) where a rank sees all GPUs of its node.

asked_to_end = False


def end_soon(*_):
    global asked_to_end
    asked_to_end = True


signal.signal(signal.SIGUSR1, end_soon)  # hpcml gen --signal USR1@60: a minute before the time limit

newest = options.folder / "newest.json"
state = json.loads(newest.read_text()) if newest.exists() else {"step": 0, "loss": 1.0}
first = state["step"]
if rank == 0:
    print(f"{world_size} ranks, begins at step {first} of {options.steps}", flush=True)

while state["step"] < options.steps and not asked_to_end:
    state["step"] += 1
    state["loss"] *= 0.5  # the model
    if rank == 0:
        options.folder.mkdir(exist_ok=True)
        unfinished = newest.with_suffix(".part")
        unfinished.write_text(json.dumps(state))
        unfinished.rename(newest)  # in one step: nobody ever reads half of it
    if options.steps_per_job and state["step"] - first >= options.steps_per_job:
        break

if rank == 0:
    print(f"ends at step {state['step']} of {options.steps}, loss {state['loss']}", flush=True)
