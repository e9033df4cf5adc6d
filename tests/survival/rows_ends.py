# SPDX-License-Identifier: MIT
"""Rows: Slurm ends a job, or takes its nodes; and ranks killed at moments drawn by seeds."""
import os
import random
import shutil
import time

from lab import output_of, until
from row import row

NEVER = ("--fault", "preempt@9h")  # a partition that goes before all others, and requeued jobs that start again soon
SAVES = ("--save-before", "1m", "--requeue")


@row("SIGTERM by scancel", "scancel in the training; agents, --requeue, ranks that save", code=0, emulate=NEVER, faulty="received SIGTERM")
def cancelled(lab):
    job = lab.agent_job("--requeue", "--checkpoint-dir", lab.checkpoints, words=["--pause", "0.5"])
    job.trains()
    cause = time.time()
    output_of("scancel", job.number)
    seen = lab.finish(job, cause)
    if job.field("JobState") != "CANCELLED":
        seen.wrong.append("its state is " + job.field("JobState"))
    if not job.out.find("rank 0 has saved step"):
        seen.wrong.append("the ranks have not saved")
    return seen


def limited(lab, most, pause):
    """A job of one minute that saves 20 s before; when Slurm began it. Slurm looks at limits twice a minute, and may be early."""
    flags = lab.flags("--save-before", "20s", "--requeue", "--max-requeues", str(most), "--checkpoint-dir", lab.checkpoints)
    flags[flags.index("--time") + 1] = "1"
    job = lab.submit(flags=flags, words=["--pause", pause])
    job.trains()
    return job, time.mktime(time.strptime(job.field("StartTime"), "%Y-%m-%dT%H:%M:%S"))


@row("USR1 at the time limit", "a limit of 1 minute, --save-before 20s --requeue --max-requeues 6: the ranks save, and go on in the next start", requeues=(1, 6), equal=True,
     emulate=NEVER, faulty="left until the time limit: asking the ranks to save and exit", knowable="20 s before the limit", waits=100)
def at_limit(lab):
    job, begun = limited(lab, 6, "0.7")
    return lab.finish(job, begun, allowance=41)  # StartTime is in whole seconds


@row("the limit comes again and again", "the same with a training of five minutes and --max-requeues 1", requeues=1, emulate=NEVER, waits=150,
     faulty="reached its limit of 1 restarts", knowable="20 s before the second limit")
def at_limit_again(lab):
    job, _ = limited(lab, 1, "5")
    restarted, _ = job.wait_for_line("rank 0 of 2 begins at step [1-9]")
    return lab.finish(job, restarted, allowance=41)


@row("slurmctld away at the time to save", "slurmctld is away from 15 s to 48 s of a job of one minute, --save-before 30s --requeue: hpcml counts the time itself, "
     "signals through srun, and repeats the requeue", requeues=(1, 6), equal=True, emulate=("--fault", "slurmctld-restart@15s..48s"),
     faulty="left until the time limit: asking the ranks to save and exit", knowable="30 s before the limit", waits=120)
def away_at_limit(lab):
    flags = lab.flags("--save-before", "30s", "--requeue", "--max-requeues", "6", "--checkpoint-dir", lab.checkpoints)
    flags[flags.index("--time") + 1] = "1"
    job = lab.submit(flags=flags, words=["--pause", "0.7"])
    job.trains()
    begun = time.mktime(time.strptime(job.field("StartTime"), "%Y-%m-%dT%H:%M:%S"))
    return lab.finish(job, begun, allowance=31)


@row("batch process killed", "hpcml internal batch is killed in the training: Slurm ends the job", code=None, emulate=NEVER)
def batch_killed(lab):
    job = lab.submit(flags=lab.flags(*SAVES, "--checkpoint-dir", lab.checkpoints), words=["--pause", "0.7"])
    job.trains()
    until("the batch process", lambda: next((p for p in job.processes() if p.words[1:3] == ["internal", "batch"] and p.parent
                                             and p.parent.program.startswith("slurmstepd")), None)).kill()
    seen = lab.finish(job)
    if job.field("JobState") != "FAILED":
        seen.wrong.append("its state is " + job.field("JobState"))
    return seen


@row("PreemptMode REQUEUE", "another job takes the nodes for 10 s; ranks that save, --max-requeues 1", requeues=1, equal=True, emulate=("--fault", "preempt@10s..20s"),
     faulty="Slurm ends the job: asking the ranks to save and exit", waits=60)
def preempted(lab):
    job = lab.task_job(*SAVES, "--max-requeues", "1", "--checkpoint-dir", lab.checkpoints, words=["--pause", "0.5"])
    job.trains()
    return lab.finish(job, lab.fault_reported("takes all nodes"))


def lacks_accounting():
    place = os.environ.get("PATH", "") + ":/usr/sbin"
    return "" if shutil.which("slurmdbd", path=place) and shutil.which("mariadbd", path=place) else "QoS live in a slurmdbd: it needs slurmdbd and mariadb-server-core"


@row("PreemptMode REQUEUE by QoS", "the same where the other job's QoS preempts that of the job (PreemptType=preempt/qos)", requeues=1, equal=True, lacks=lacks_accounting,
     emulate=("--fault", "preempt:qos@10s..20s"), faulty="Slurm ends the job: asking the ranks to save and exit", waits=60)
def preempted_by_qos(lab):
    seen = preempted(lab)
    if "preempt/qos" not in output_of("scontrol", "show", "config"):
        seen.wrong.append("partitions decide, not QoS")
    return seen


@row("PreemptMode REQUEUE by QoS, GraceTime 20", "the same with 20 s from SIGTERM, which Slurm gives the ranks alone, to the end: they have ended long before", requeues=1, equal=True,
     lacks=lacks_accounting, emulate=("--fault", "preempt:qos:20s@10s"), faulty="preempted by another job: job 1 waits for Slurm", waits=110)
def preempted_after_grace(lab):
    return preempted(lab)


@row("PreemptMode CANCEL", "the same where the site cancels: --requeue-on preempted", requeues=1, equal=True, emulate=("--fault", "preempt:cancel@10s..20s"),
     faulty="preempted by another job", waits=60)
def preempted_and_cancelled(lab):
    job = lab.task_job(*SAVES, "--requeue-on", "preempted", "--max-requeues", "1", "--checkpoint-dir", lab.checkpoints, words=["--pause", "0.5"])
    job.trains()
    return lab.finish(job, lab.fault_reported("takes all nodes"))


def task_states(number):
    """State, restarts and exit code of each task of an array."""
    found = {}
    for task in range(1, 6):
        line = output_of("scontrol", "-o", "show", "job", f"{number}_{task}")
        words = dict(word.split("=", 1) for word in line.split() if "=" in word)
        found[task] = (words.get("JobState"), words.get("Restarts"), words.get("ExitCode"))
    return found


@row("array task 3 of 5 preempted", "the node of task 3 is taken for another job; --requeue, one node a task", nodes=5, requeues=1, equal=True, emulate=NEVER,
     faulty="Slurm ends the job: asking the ranks to save and exit", waits=60)
def one_of_five(lab):
    flags = lab.flags(*SAVES, "--max-requeues", "1", "--checkpoint-dir", lab.checkpoints, "--array", "1-5", nodes=1, ranks=2)
    job = lab.submit(flags=flags, words=["--pause", "0.7"], options=["--exclusive"])
    logs = lab.array_logs(job, range(1, 6))
    for log in logs.values():
        until("all tasks train", lambda log=log: log.find("rank 0 of 2 begins"))
    node = output_of("squeue", "-h", "-j", f"{job.number}_3", "-o", "%N").strip()
    cause = time.time()
    taker = output_of("sbatch", "--parsable", "--partition=hpcml-preempt", "--nodelist=" + node, "--exclusive", "--mem=1", "--no-requeue", "--time=10",
                 "--output=/dev/null", "--wrap=sleep 8").strip()
    until("the other job runs", lambda: output_of("squeue", "-h", "-j", taker, "-o", "%T").strip() == "RUNNING")
    job.number += "_3"
    whole = job.number.partition("_")[0]
    until("the array's end", lambda: not output_of("squeue", "-h", "-j", whole).strip())
    states = task_states(whole)
    seen = lab.finish(job, cause)
    finals = {task: log.final() for task, log in logs.items()}
    seen.final = finals[3]
    for task, (state, restarts, code) in states.items():
        if (state, restarts, code) != ("COMPLETED", "1" if task == 3 else "0", "0:0"):
            seen.wrong.append(f"task {task}: {state}, {restarts} restarts, {code}")
        if finals[task] != seen.final:
            seen.wrong.append(f"task {task} has other weights")
    return seen


def kill_at(lab, seed):
    """A training whose rank is killed at a moment that the seed draws, from its start on; it goes on from its last checkpoint."""
    dice = random.Random(seed)
    name = f"seed{seed}"
    job = lab.agent_job("--max-restarts", "2", "--checkpoint-dir", lab.checkpoints, words=["--pause", "0.03", "--every", "3"], name=name)
    victim = job.rank(dice.randrange(2))
    time.sleep(dice.uniform(0, 4.5))
    try:
        victim.kill()
    except OSError:
        return name, None, lab.finish(job)  # it had ended
    return name, victim, lab.finish(job)


def seeds(lab, count):
    first, killed = None, 0
    for seed in range(count):
        name, victim, seen = kill_at(lab, seed)
        killed += victim is not None
        first = first or seen
        wrong = seen.wrong + ([f"code {seen.code}"] if seen.code != 0 else []) + ([f"left {seen.orphans}"] if seen.orphans else []) + \
            ([f"requeued {seen.requeues} times"] if seen.requeues else []) + (["other weights"] if seen.final != os.environ["HPCML_MATRIX_WEIGHTS"] else [])
        first.wrong += [f"{name}: {text}" for text in wrong]
    if killed < count * 0.7:
        first.wrong.append(f"only {killed} of {count} were killed in time")
    return first


@row("killed at 20 moments", "a rank is killed at a moment that a seed draws, 20 times, from its start to its end; agents, --max-restarts 2, checkpoints every 3 steps",
     equal=True, waits=200)
def twenty_moments(lab):
    return seeds(lab, int(os.environ.get("HPCML_KILL_SEEDS", "20")))
