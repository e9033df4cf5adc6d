# SPDX-License-Identifier: MIT
"""Rows: full disks, and networks without IPv4."""
import os
import re
import shlex
import subprocess

from lab import PYTHON, output_of, until
from row import Outcome, row
from rows_nodes import daemon
from rows_places import HEAD

WIDE = ["--width", "96"]  # a checkpoint of 150 KiB: on a disk of 256 KiB the second one beside the first has no room


@row("disk full for logs", "the disk with the ranks' log files is full from the beginning; agents", unshared=True, equal=True, faulty="cannot write .*: .*No space left on device")
def full_for_logs(lab):
    with open("small/filler", "wb", buffering=0) as file:
        try:
            while file.write(bytes(4096)):
                pass
        except OSError:
            pass
    cause = lab.now()
    return lab.finish(lab.submit(flags=lab.flags("--log-dir", os.path.abspath("small"))), cause)


def train_here(lab, **more):
    """The weights of a training on this node, without Slurm."""
    words = [lab.hpcml, "launch", "--bind", "none", "--nproc-per-node", "2", "--", *PYTHON, *WIDE, "--every", "1000"]
    env = {name: value for name, value in os.environ.items() if not name.startswith("SLURM")}
    done = subprocess.run(words, env=dict(env, **more), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    found = re.search(r"begins at step (\d+)[^\0]*final (\w+)", done.stdout)
    return found.groups() if found else ("", done.stdout)


@row("disk full for the checkpoint", "there is space for one checkpoint, not for a second one; agents", unshared=True, code=1,
     faulty=r"hpcml: error: rank 0/\d+ \(node001, local 0\) exited with code 1", waits=20)
def full_for_checkpoint(lab):
    job = lab.agent_job("--checkpoint-dir", os.path.abspath("small"), words=[*WIDE, "--pause", "0.1"])
    cause = until("the next checkpoint", lambda: os.path.exists(f"small/{job.number}/state.pt") and lab.now())
    seen = lab.finish(job, cause, allowance=1)  # so long five more steps take
    first, resumed = train_here(lab, HPCML_CHECKPOINT_DIR=os.path.abspath(f"small/{job.number}"))
    _, whole = train_here(lab)
    if first != "5":
        seen.wrong.append(f"who goes on begins at step {first or '?'}, not at 5: {resumed}")
    if resumed != whole:
        seen.wrong.append("who goes on has other weights than an uninterrupted run")
    if not job.err.find("hpcml: .*No space left on device"):
        seen.wrong.append("nobody says why")
    return seen


# Slurm itself needs IPv4: its connections stand still while the nodes have no such address.
SIX = HEAD + """srun --cpu-bind=none bash -c 'exec >rank.$SLURM_PROCID.out 2>&1; touch ready.$SLURM_PROCID
until [ -e go ]; do sleep 0.1; done
"$0" launch --bind none -- "$@"; code=$?
echo $code >code.$SLURM_PROCID; until [ -e back ]; do sleep 0.1; done; exit $code' {hpcml} {train}
"""


@row("IPv6 only", "the nodes have IPv6 addresses alone, by name as well, while the ranks meet and train; a task per rank", equal=True, waits=10)
def six(lab):
    nodes = ["node001", "node002"]
    inside = {node: ["nsenter", "--net", "--target", str(daemon(node).pid), "ip"] for node in nodes}
    hosts = "127.0.0.1 localhost\n::1 localhost\n"
    for number, node in enumerate(nodes, 1):
        hosts += f"fd66::{number} {node}\n"
        done = subprocess.run([*inside[node], "-6", "address", "add", f"fd66::{number}/64", "dev", "eth0", "nodad"], stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode != 0:
            return Outcome(not_run="the nodes' addresses cannot be changed here: " + done.stderr)
    with open("/etc/hosts", "w", encoding="utf-8") as file:
        file.write(hosts)
    job = lab.submit(script=SIX.format(hpcml=shlex.quote(lab.hpcml), train=shlex.join([*PYTHON, "--child-leaves"])), together=True)
    until("both tasks", lambda: os.path.exists("ready.0") and os.path.exists("ready.1"))
    four = {node: output_of(*inside[node], "-4", "-o", "address", "show", "dev", "eth0").split()[3] for node in nodes}
    for node in nodes:
        output_of(*inside[node], "-4", "address", "flush", "dev", "eth0")
    open("go", "w", encoding="utf-8").close()
    until("the end of both ranks", lambda: os.path.exists("code.0") and os.path.exists("code.1"))
    left = "".join(output_of(*inside[node], "-4", "-o", "address", "show", "dev", "eth0") for node in nodes)
    for node in nodes:
        output_of(*inside[node], "-4", "address", "add", four[node], "dev", "eth0")
    open("back", "w", encoding="utf-8").close()
    seen = lab.finish(job)
    with open("rank.0.out", encoding="utf-8") as file:
        reported = file.read()
    seen.final = (re.findall(r"final (\w+)", reported) or [""])[0]
    if left:
        seen.wrong.append("the nodes had IPv4 addresses: " + left)
    return seen
