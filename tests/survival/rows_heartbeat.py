# SPDX-License-Identifier: MIT
"""Rows: agents and their coordinator that stop working without an end, and jobs that are paused as a whole."""
import concurrent.futures
import ctypes
import glob
import os
import random
import re
import signal
import time

from lab import Process, output_of, until
from row import Outcome, row

TIMEOUT = int(os.environ.get("HPCML_STOP_TIMEOUT", "12"))  # seconds; the default of hpcml is 30
FLAGS = ("--heartbeat-timeout", str(TIMEOUT))
SILENT = r"hpcml: (?:error: )?no heartbeat from the agent of node00{} \(node {} of {}\) for \d+ s: treated as lost"
KNOWABLE = f"after {TIMEOUT} s without a heartbeat (--heartbeat-timeout)"
ENDS = (1, 125, 137)  # of the agents that end, or of one that is killed: srun returns one of them


def service(job):
    """The process that joins the agents: of the first node's agent, it listens and does not serve the ranks."""
    def find():
        agent = job.agent(0)
        own = [Process(int(pid)) for pid in agent.read(f"task/{agent.pid}/children").split()]
        return next((p for p in own if listens(p)), None)
    return until("the process that joins the agents", find)


def listens(process):
    """Whether a process has a socket that listens, at any port."""
    sockets = {f"socket:[{line.split()[9]}]" for table in ("net/tcp", "net/tcp6") for line in process.read(table).decode().splitlines()[1:]
               if line.split()[3] == "0A"}
    try:
        return any(os.readlink(path) in sockets for path in glob.glob(f"/proc/{process.pid}/fd/*"))
    except OSError:
        return False


def ended(lab, job, cause, **more):
    seen = lab.finish(job, cause, allowance=TIMEOUT, **more)
    if seen.code not in ENDS:
        seen.wrong.append(f"exit code {seen.code}, none of {ENDS}")
    return seen


@row("agent stopped", f"SIGSTOP for the agent of the second node; --heartbeat-timeout {TIMEOUT}", code=None, faulty=SILENT.format(2, 1, 2), knowable=KNOWABLE, waits=TIMEOUT,
     quick=True)
def agent_stopped(lab):
    job = lab.agent_job(*FLAGS, words=["--pause", "0.5"], together=True)
    job.trains()
    return ended(lab, job, job.agent(1).kill(signal.SIGSTOP))


@row("first node's agent stopped", f"SIGSTOP for the agent of the first node; --heartbeat-timeout {TIMEOUT}", code=None, faulty=SILENT.format(1, 0, 2), knowable=KNOWABLE,
     waits=TIMEOUT)
def first_agent_stopped(lab):
    job = lab.agent_job(*FLAGS, words=["--pause", "0.5"], together=True)
    job.trains()
    return ended(lab, job, job.agent(0).kill(signal.SIGSTOP))


@row("agent stopped, fewer nodes", f"the same with --nnodes 1:2 and checkpoints: the first node continues alone; --heartbeat-timeout {TIMEOUT}", code=137,
     faulty=SILENT.format(2, 1, 2), knowable=KNOWABLE, waits=TIMEOUT)
def agent_stopped_elastic(lab):
    job = lab.agent_job(*FLAGS, "--nnodes", "1:2", "--checkpoint-dir", lab.checkpoints, words=["--pause", "0.2"], together=True)
    job.trains()
    stopped = job.agent(1).kill(signal.SIGSTOP)
    seen = lab.finish(job, stopped, allowance=TIMEOUT)
    if not job.out.find("rank 0 of 1 begins at step [1-9]"):
        seen.wrong.append("the first node has not resumed from its checkpoint")
    if not seen.final:
        seen.wrong.append("the training did not come to its end")
    return seen


@row("coordinator stopped", f"SIGSTOP for the process on the first node that joins the agents; --heartbeat-timeout {TIMEOUT}", code=None,
     faulty=r"hpcml: error: no heartbeat from the (coordinator of the agents|agent of the first node) \(node001", knowable=KNOWABLE, waits=TIMEOUT)
def coordinator_stopped(lab):
    job = lab.agent_job(*FLAGS, words=["--pause", "0.5"], together=True)
    job.trains()
    return ended(lab, job, service(job).kill(signal.SIGSTOP))


def hang_directory(path, process):
    """Mounts a file system there, as the process sees it, whose server never answers: who looks into it waits."""
    libc = ctypes.CDLL(None, use_errno=True)
    server = os.open("/dev/fuse", os.O_RDWR)
    child = os.fork()
    if child == 0:
        space = os.open(f"/proc/{process.pid}/ns/mnt", os.O_RDONLY)
        done = libc.setns(space, 0) == 0 and libc.mount(b"hang", path.encode(), b"fuse", 0, b"fd=%d,rootmode=40000,user_id=0,group_id=0" % server) == 0
        os._exit(0 if done else 1)
    if os.waitpid(child, 0)[1] != 0:
        raise OSError("a file system cannot be mounted on a node")
    return server  # the file system answers with errors once this is closed


def lacks_fuse():
    return "" if os.geteuid() == 0 and os.path.exists("/dev/fuse") else "it needs root and /dev/fuse"


@row("agent blocked", f"the second node's file system of logs hangs; agents, --stall-timeout 600, --heartbeat-timeout {TIMEOUT}", code=None, faulty=SILENT.format(2, 1, 2),
     knowable=KNOWABLE, waits=TIMEOUT, lacks=lacks_fuse)
def agent_blocked(lab):
    job = lab.agent_job(*FLAGS, "--stall-timeout", "600", words=["--pause", "0.5"], together=True)
    job.trains()
    agent = job.agent(1)
    logs = until("the folder of logs", lambda: (glob.glob(os.path.abspath("logs/*/attempt_0")) or [None])[0])
    cause = lab.now()
    server = hang_directory(logs, agent)
    try:
        seen = ended(lab, job, cause)
    finally:
        os.close(server)
    if not job.out.find(r"hpcml: error: the agent of node002 \(process \d+\) has not responded for \d+ s: it (sleeps|waits)"):
        seen.wrong.append("what the agent was doing was not reported")
    return seen


def paused(lab, stop, resume):
    """A training that is paused for twice the usual timeout."""
    job = lab.agent_job("--stall-timeout", "40", words=["--pause", "0.4"], together=True)
    job.trains()
    stop(job)
    time.sleep(60)
    if any(p.read("stat").decode(errors="replace").rpartition(") ")[2].startswith(("S", "R")) for p in [job.agent(0), job.agent(1)]):
        return Outcome(wrong=["the agents were not paused"])
    resume(job)
    seen = lab.finish(job)
    if job.out.find("no heartbeat|treated as lost"):
        seen.wrong.append("somebody was treated as lost")
    return seen


@row("job suspended for 60 s", "scontrol suspend and resume in the training; agents, --stall-timeout 40", equal=True, waits=80)
def suspended(lab):
    return paused(lab, lambda job: output_of("scontrol", "suspend", job.number), lambda job: output_of("scontrol", "resume", job.number))


@row("job stopped for 60 s", "scancel --signal=STOP, and CONT, for the training's step; agents, --stall-timeout 40", equal=True, waits=80)
def stopped_for_a_while(lab):
    return paused(lab, lambda job: output_of("scancel", "--signal=STOP", job.number + ".0"), lambda job: output_of("scancel", "--signal=CONT", job.number + ".0"))


IDLE = ["sh", "-c", "echo rank $RANK of $WORLD_SIZE begins; exec sleep 1000"]


def stop_at(lab, seed):
    """A run of four nodes of which the seed's agent, or the coordinator, is stopped at the seed's moment."""
    dice = random.Random(seed)
    name = f"stop{seed}"
    job = lab.submit(name, flags=lab.flags("--log-dir", "logs/" + name, *FLAGS, nodes=4), program=IDLE, options=["--oversubscribe", "--mem=100"], together=True)
    job.trains(4)
    time.sleep(dice.uniform(0, 3))
    victim = dice.choice(["coordinator", 0, 1, 2, 3])
    stopped = (service(job) if victim == "coordinator" else job.agent(victim)).kill(signal.SIGSTOP)
    pattern = "no heartbeat from the (coordinator of the agents|agent of the first)" if victim == "coordinator" else SILENT.format(victim + 1, victim, 4)
    wrong = []
    seen = lab.finish(job, stopped, limit=TIMEOUT + 90)
    found = job.out.find(pattern)
    if not found:
        wrong.append("not named")
    wrong += seen.wrong + ([f"code {seen.code}"] if seen.code not in ENDS else []) + ([f"left {seen.orphans}"] if seen.orphans else [])
    return f"{name} ({victim})", found[0] - stopped if found else None, wrong


@row("20 stops on 4 nodes", f"SIGSTOP for an agent or the coordinator, drawn by a seed, at a moment that it draws; --heartbeat-timeout {TIMEOUT}", nodes=4, code=None, alone=True,
     waits=300)
def twenty_stops(lab):
    count = int(os.environ.get("HPCML_STOP_SEEDS", "20"))
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        runs = list(pool.map(lambda seed: stop_at(lab, seed), range(count)))
    seen = Outcome()
    for name, _, wrong in runs:
        seen.wrong += [f"{name}: {text}" for text in wrong]
    after = sorted(seconds for _, seconds, _ in runs if seconds is not None)
    with open("stops.out", "w", encoding="utf-8") as file:
        file.write("".join(f"{name} {seconds} {wrong}\n" for name, seconds, wrong in runs))
    if after:
        print("named after", " ".join(f"{seconds:.1f}" for seconds in after), flush=True)
        if after[-1] > TIMEOUT + 5:
            seen.wrong.append(f"named {after[-1]:.1f} s after the stop")
    return seen
