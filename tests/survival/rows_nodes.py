# SPDX-License-Identifier: MIT
"""Rows: nodes, their links, and Slurm's own daemons."""
import os
import re
import time

from lab import LONG, Process, output_of, until
from row import row
from rows_places import MISSING, plain

GONE = r"the agent of node002 disconnected|no heartbeat from the agent of node002 \(node 1 of 2\)"


def daemon(node):
    """slurmd of a node."""
    return until("slurmd", lambda: next((Process(int(pid)) for pid in os.listdir("/proc") if pid.isdigit()
                                         and re.search(rf"slurmd\0.*-N\0{node}", Process(int(pid)).read("cmdline").decode(errors="replace"))), None))


def survivor(lab, pause):
    """A job of two nodes that Slurm may requeue once."""
    return lab.agent_job("--save-before", "1m", "--requeue", "--max-requeues", "1", "--checkpoint-dir", lab.checkpoints, words=["--pause", pause], nodes=2)


def given_up(node):
    """When Slurm takes a node for lost: nobody else can know before that slurmd does not come back."""
    until(f"Slurm gives {node} up", lambda: re.search("State=DOWN", output_of("scontrol", "-o", "show", "node", node)))
    return time.time()


@row("slurmd killed", "slurmd of the second node is killed in the training; agents, --requeue, a spare node", nodes=3, emulate=("--fault", "node-down:2@9h"),
     requeues=1, equal=True, faulty="(?i)node fail", knowable="when Slurm gives the node up (SlurmdTimeout)", waits=60)
def slurmd_killed(lab):
    job = survivor(lab, "0.8")
    job.trains()
    daemon("node002").kill()
    return lab.finish(job, given_up("node002") - 1)  # the line may come before we have asked


@row("node lost", "the second node loses its power in the training; agents, --requeue, a spare node", nodes=3, emulate=("--fault", "node-down:2@12s"),
     requeues=1, equal=True, faulty="node002", knowable="when Slurm gives the node up (SlurmdTimeout)", waits=60)
def node_lost(lab):
    job = survivor(lab, "0.8")
    job.trains()
    lab.fault_reported("node002 is down")
    return lab.finish(job, given_up("node002") - 1)


@row("link cut in the rendezvous", "the second node: links cut before its rank has met the others; --rendezvous-timeout 20",
     emulate=("--fault", "link-cut:2@1s..60s"), code=125, faulty=MISSING, waits=60, knowable="20 s after the first rank came")
def cut_early(lab):
    job = plain(lab, first="{ until [ -e go ]; do sleep 0.1; done; }", flags="--rendezvous-timeout 20")
    lab.fault_reported("node002: links cut")
    cause = until("rank 0", lambda: next((p for p in job.processes() if "launch" in p.words and p.environment.get("SLURM_PROCID") == "0"), None)) and lab.now()
    return lab.finish(job, cause, allowance=20)


@row("link cut in the training", "the second node: links cut, and whole again when Slurm has long given it up; agents, --requeue, a spare node", nodes=4,
     emulate=("--fault", "link-cut:2@12s..5m20s"), requeues=1, equal=True, faulty="node002", knowable="when Slurm gives the node up (SlurmdTimeout)", waits=340)
def cut_late(lab):
    job = survivor(lab, "0.8")
    job.trains()
    lab.fault_reported("node002: links cut")
    gone = given_up("node002") - 1
    lab.fault_reported("node002: links restored", 400)  # what is left on a node that nobody reaches ends then
    return lab.finish(job, gone)


@row("link cut for 100 s", "the second node: links cut for 100 s, whole before Slurm gives the node up; agents, no requeue", code=1,
     emulate=("--fault", "link-cut:2@12s..112s"), faulty=GONE, knowable="after 30 s of silence (agents)", waits=200)
def cut_long(lab):
    job = lab.agent_job(words=["--pause", "0.8"])
    job.trains()
    return lab.finish(job, lab.fault_reported("node002: links cut"), allowance=30, limit=200)


@row("link cut for a while", "the second node: links cut for 5 s in the training, and whole again; agents", emulate=("--fault", "link-cut:2@12s..17s"), equal=True,
     waits=30)
def cut_and_whole(lab):
    job = lab.agent_job(words=["--pause", "0.4"])
    job.trains()
    lab.fault_reported("links restored")
    return lab.finish(job)


@row("slow link", "the second node's links carry a thousandth; agents", emulate=("--fault", "slow-link:2:1000x"), equal=True)
def slow(lab):
    return lab.finish(lab.agent_job(words=["--pause", "0.1"]))


@row("slurmctld restarted", "slurmctld is away for 8 s in the training, and is there again; agents", emulate=("--fault", "slurmctld-restart@8s..16s"), equal=True, waits=30)
def restarted(lab):
    job = lab.agent_job(words=["--pause", "0.4"])
    job.trains()
    lab.fault_reported("slurmctld started again")
    return lab.finish(job, limit=LONG)
