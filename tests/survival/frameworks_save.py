#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs of frameworks save at the save signal, are requeued and resume, as jobs of an emulated cluster of two nodes.

    frameworks_save.py HPCML PYTHON [ROW...]      PYTHON has torch, lightning, accelerate, submitit

Each row is a job of `hpcml gen --save-before --requeue` with two ranks on two nodes. What Slurm does before the time limit is done
at once: USR1 to the batch shell. Then the job has to start a second time, resume where it saved, and complete.
"""
import os
import re
import subprocess
import sys
import tempfile

PYTORCH = r'''
import os, signal, time, torch, torch.distributed as dist
asked = torch.zeros(1)
signal.signal(getattr(signal, "SIG" + os.environ["HPCML_SAVE_SIGNAL"]), lambda number, frame: asked.fill_(1))
dist.init_process_group("gloo")
file = os.path.join(os.environ["HPCML_CHECKPOINT_DIR"], "state.pt")
step = torch.load(file)["step"] if os.path.exists(file) else 0
print("begin", dist.get_rank(), "at", step, flush=True)
last = 10**6 if step == 0 else step + 20
while step < last:
    step += 1
    time.sleep(0.02)
    stop = asked.clone()
    dist.all_reduce(stop)
    if stop.item() > 0:
        if dist.get_rank() == 0:
            torch.save({"step": step}, file + ".part")
            os.replace(file + ".part", file)
        dist.barrier()
        print("saved", dist.get_rank(), flush=True)
        dist.destroy_process_group() # without it, torch may end a rank with std::terminate (seen in 1 of 5 runs)
        raise SystemExit(0)
print("done", dist.get_rank(), flush=True)
dist.destroy_process_group()
'''

# As Lightning's documentation has it: no line about signals, jobs or checkpoints. Data loaders are forks that inherit its handler.
LIGHTNING = r'''
import os, time, warnings, logging
warnings.filterwarnings("ignore")
import torch, lightning as L
from torch.utils.data import DataLoader, TensorDataset

class Model(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(8, 1)
    def training_step(self, batch, index):
        time.sleep(0.2)
        return self.layer(batch[0]).sum()
    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.01)

class Tell(L.Callback):
    def on_train_start(self, trainer, model):
        self.first = trainer.global_step
        print("begin", trainer.global_rank, "at", trainer.global_step, flush=True)
    def on_save_checkpoint(self, trainer, model, checkpoint):
        print("saved", trainer.global_rank, flush=True)
    def on_train_batch_end(self, trainer, *unused):
        if self.first and trainer.global_step >= self.first + 5: trainer.should_stop = True
    def on_train_end(self, trainer, model):
        print("done", trainer.global_rank, flush=True)

data = DataLoader(TensorDataset(torch.ones(20000, 8)), batch_size=4, num_workers=1)
trainer = L.Trainer(accelerator="cpu", devices=1, num_nodes=2, strategy="ddp", max_steps=2000, min_epochs=0, logger=False,
                    enable_progress_bar=False, enable_model_summary=False, enable_checkpointing=False, callbacks=[Tell()],
                    default_root_dir=os.environ["HPCML_CHECKPOINT_DIR"])
trainer.fit(Model(), data)
'''

ACCELERATE = r'''
import os, signal, time, torch
from accelerate import Accelerator
asked = torch.zeros(1)
signal.signal(getattr(signal, "SIG" + os.environ["HPCML_SAVE_SIGNAL"]), lambda number, frame: asked.fill_(1))
accelerator = Accelerator()
assert accelerator.num_processes == 2, accelerator.num_processes
model = torch.nn.Linear(8, 1)
model, optimizer = accelerator.prepare(model, torch.optim.SGD(model.parameters(), lr=0.01))
folder = os.path.join(os.environ["HPCML_CHECKPOINT_DIR"], "state")
class Progress:
    step = 0
    def state_dict(self): return {"step": self.step}
    def load_state_dict(self, state): self.step = state["step"]
progress = Progress()
accelerator.register_for_checkpointing(progress)
if os.path.exists(folder): accelerator.load_state(folder)
print("begin", accelerator.process_index, "at", progress.step, flush=True)
last = 10**6 if progress.step == 0 else progress.step + 20
while progress.step < last:
    accelerator.backward(model(torch.ones(4, 8)).sum())
    optimizer.step(); optimizer.zero_grad()
    progress.step += 1
    time.sleep(0.02)
    if accelerator.reduce(asked.clone(), reduction="sum").item() > 0:
        accelerator.save_state(folder)
        accelerator.wait_for_everyone()
        print("saved", accelerator.process_index, flush=True)
        raise SystemExit(0)
print("done", accelerator.process_index, flush=True)
'''

# submitit's own handler, with its own environment and files, in the program of each rank.
SUBMITIT = r'''
import os, pathlib, sys, time
from submitit.core import job_environment, utils
from submitit.slurm.slurm import SlurmJobEnvironment

folder = pathlib.Path(os.environ["HPCML_CHECKPOINT_DIR"])

class Training:
    step = 0
    def __call__(self): pass
    def checkpoint(self):
        (folder / "state").write_text(str(training.step))
        print("saved 0", flush=True)
        return utils.DelayedSubmission(self)

training = Training()
file = folder / "state"
if file.exists(): training.step = int(file.read_text())
os.environ["SUBMITIT_EXECUTOR"] = "slurm"
environment = SlurmJobEnvironment()
paths = utils.JobPaths(folder, job_id=os.environ["SLURM_JOB_ID"])
delayed = utils.DelayedSubmission(training)
delayed.set_timeout(60, 3)
environment._handle_signals(paths, delayed)
print("begin", os.environ["RANK"], "at", training.step, flush=True)
last = 10**6 if training.step == 0 else training.step + 20
while training.step < last:
    training.step += 1
    time.sleep(0.02)
print("done", os.environ["RANK"], flush=True)
'''

# Each row: its program, the ranks that say that they saved, flags of gen beside those of all.
ROWS = {
    "PyTorch": (PYTORCH, (0, 1), []),
    "PyTorch, an agent": (PYTORCH, (0, 1), ["--log-dir", "logs"]),
    "Lightning": (LIGHTNING, (0, 1), []),
    "Accelerate": (ACCELERATE, (0, 1), []),
    "Accelerate, an agent": (ACCELERATE, (0, 1), ["--log-dir", "logs"]),
    "submitit": (SUBMITIT, (0,), ["--save-signal", "USR2"]),
}

JOB = r'''
job=$(sbatch --parsable job.sh)
hear() { for i in {1..1800}; do grep -qs -- "$1" job.out && return; sleep 0.1; done; echo "no '$1'"; }
hear "begin 0"; hear "begin 1"; sleep 2
scancel --batch --signal=USR1 "$job"
for i in {1..1800}; do squeue -h -j "$job" 2> /dev/null | grep -q . || break; sleep 0.1; done
scontrol -o show job "$job" | grep -o 'JobState=[A-Z]*\|Restarts=[0-9]*\|ExitCode=[0-9:]*' | xargs
'''


def run(hpcml, python, name):
    program, savers, flags = ROWS[name]
    # A directory that the nodes share: each has its own /tmp and /var/tmp.
    with tempfile.TemporaryDirectory(dir=os.path.dirname(os.path.dirname(hpcml))) as directory:
        with open(os.path.join(directory, "train.py"), "w", encoding="utf-8") as out:
            out.write(program)
        environment = dict(os.environ, OMP_NUM_THREADS="1")
        words = [hpcml, "gen", "--site", "generic", "--gpus-per-node", "0", "--nodes", "2", "--time", "10", "--save-before", "1m",
                 "--requeue", "--checkpoint-dir", directory, "--output", "job.out", "-o", "job.sh", *flags, "--", python, "train.py"]
        subprocess.run(words, cwd=directory, env=environment, check=True)
        # A fault that never comes: a requeued job starts again after ten seconds then.
        done = subprocess.run([hpcml, "emulate", "--site", "generic", "--nodes", "2", "--quiet", "--fault", "slurmctld-restart@9h", "--",
                               "bash", "-c", JOB], cwd=directory, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, timeout=580, check=False)
        with open(os.path.join(directory, "job.out"), encoding="utf-8") as log:
            text = log.read()
    begins = re.findall(r"begin (\d) at (\d+)", text)
    wrong = []
    if "JobState=COMPLETED Restarts=1 ExitCode=0:0" not in done.stdout:
        wrong.append("the job: " + done.stdout.strip())
    if sorted((rank, int(step) > 0) for rank, step in begins) != [("0", False), ("0", True), ("1", False), ("1", True)]:
        wrong.append(f"ranks began at {begins}")
    for rank in (0, 1):
        if rank in savers and len(re.findall(f"saved {rank}", text)) != 1:
            wrong.append(f"rank {rank} saved {len(re.findall(f'saved {rank}', text))} times")
        if len(re.findall(f"done {rank}", text)) != 1:
            wrong.append(f"rank {rank} was not done")
    if "not handle" in text:
        wrong.append("ranks are reported")
    print(f"{name}: " + ("; ".join(wrong) if wrong else "saved once, resumed, completed"), flush=True)
    if wrong:
        print(text)
    return not wrong


def main():
    hpcml, python = (os.path.abspath(path) for path in sys.argv[1:3])
    good = [run(hpcml, python, name) for name in sys.argv[3:] or ROWS]
    print(f"{sum(good)} of {len(good)} save and resume")
    sys.exit(0 if all(good) else 1)


main()
