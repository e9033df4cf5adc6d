# SPDX-License-Identifier: MIT
"""Rows: meetings that do not come about, and nodes that lack something."""
import os
import re
import shlex
import subprocess

from lab import PYTHON
from row import Outcome, row

MISSING = r"rank 1/2 \(node002, local 0\) has not connected"
HEAD = "#!/bin/bash\n#SBATCH --nodes=2 --ntasks-per-node=1 --time=10\n"
# A task that is not to begin as the others do: $1 is what it does first, in a shell.
TASK = "srun --cpu-bind=none --kill-on-bad-exit=1 bash -c '[ $SLURM_PROCID = 0 ] || {first}; exec \"$0\" launch --bind none {flags} -- \"$@\"' {hpcml} {train}\n"


def plain(lab, first="true", flags="", before="", words=(), **more):
    """A job whose script is a person's own; the second task begins with `first`."""
    train = shlex.join([*PYTHON, "--child-leaves", *words])
    return lab.submit(script=HEAD + before + TASK.format(first=first, flags=flags, hpcml=shlex.quote(lab.hpcml), train=train), together=True, **more)


# The first port that follows from the job's number, as src/generate/plan/port_formula.hpp says it, is somebody else's.
SQUATTER = """/usr/bin/python3 -c '
import os, socket, time
port = 15000 + int(os.environ["SLURM_JOB_ID"]) * 97 % 17000
other = socket.create_server(("::", port), family=socket.AF_INET6, dualstack_ipv6=True)
open("squatter", "w").write(str(port))
time.sleep(1000)' &
squatter=$!
until [ -s squatter ]; do sleep 0.05; done
trap 'kill $squatter' EXIT
"""


@row("master port taken", "another program listens on the first port of the meeting", quick=True, equal=True)
def port_taken(lab):
    job = plain(lab, before=SQUATTER)
    seen = lab.finish(job)
    place = job.out.find("begins at step 0 at")
    with open("squatter", encoding="utf-8") as file:
        if place and place[1].endswith(":" + file.read()):
            seen.wrong.append("the ranks were sent to the other program")
    return seen


@row("one rank never starts", "the second task never comes to hpcml; --rendezvous-timeout 15", quick=True, code=125, faulty=MISSING,
     knowable="15 s after the first rank came", waits=15)
def never_starts(lab):
    job = plain(lab, first="{ date +%s.%N >cause; exec sleep 1000; }", flags="--rendezvous-timeout 15")
    return lab.finish(job, lab.cause(), allowance=15)


@row("a rank starts 60 s late", "the second task sleeps for 60 s first", faulty=MISSING, knowable="20 s after the first rank came", waits=60, equal=True)
def comes_late(lab):
    job = plain(lab, first="{ date +%s.%N >cause; sleep 60; }")
    seen = lab.finish(job, lab.cause(), allowance=20)
    if not job.err.find(r"rank 1/2 \(node002, local 0\) connected, (59|6\d) s after the first rank"):
        seen.wrong.append("nobody said that it came at last")
    return seen


# torch looks its own host name up where nobody names its interface, as most sites' profiles do.
NO_NAMES = {"GLOO_SOCKET_IFNAME": "eth0"}


def forget_names():
    with open("/etc/hosts", "w", encoding="utf-8") as file:
        file.write("127.0.0.1 localhost\n")


@row("host names that do not resolve", "/etc/hosts of all nodes is empty, and there is no name server", quick=True, equal=True)
def no_names(lab):
    forget_names()
    return lab.finish(lab.task_job(more=NO_NAMES))


@row("host names that do not resolve, agents", "the same with agents", quick=True, equal=True)
def no_names_agents(lab):
    forget_names()
    return lab.finish(lab.agent_job(more=NO_NAMES))


@row("2 jobs on one node", "two jobs of two ranks begin on one node at the same time", quick=True, nodes=1, equal=True)
def two_jobs(lab):
    jobs = [lab.task_job(name=name, ranks=2) for name in ("job", "other")]
    first, second = (lab.finish(job) for job in jobs)
    places = [re.search(r"at (\S+)$", job.out.find("begins at step 0 at")[1])[1] for job in jobs if job.out.find("begins at step 0 at")]
    if len(set(places)) != 2:
        first.wrong.append("they met at one place: " + " ".join(places))
    if second.code != 0 or second.final != first.final or second.orphans:
        first.wrong.append(f"the second: code {second.code}, left {second.orphans}")
    return first
