# SPDX-License-Identifier: MIT
"""Rows: ranks, agents and stores that end."""
import os
import signal

from row import row

AGENT_NAMES = r"hpcml: error: rank {}/\d+ \(node00{}, local 0\) {}"
SRUN_NAMES = r"srun: error: node00{}: task {}: {}"


@row("worker exits 3", "rank 1 of two nodes ends with 3 in the training; agents", quick=True, code=3,
     faulty=AGENT_NAMES.format(1, 2, "exited with code 3"))
def exits(lab):
    job = lab.agent_job(words=["--hurt", "exit"])
    return lab.finish(job, lab.cause())


@row("worker exits 3, a task per rank", "the same without agents", quick=True, code=3, faulty=SRUN_NAMES.format(2, 1, "Exited with exit code 3"))
def exits_as_task(lab):
    job = lab.task_job(words=["--hurt", "exit"])
    return lab.finish(job, lab.cause())


@row("worker SIGSEGV", "rank 1 dies of SIGSEGV in the training; agents", quick=True, code=139, faulty=AGENT_NAMES.format(1, 2, "was killed by SIGSEGV"))
def segv(lab):
    job = lab.agent_job(words=["--hurt", "segv"])
    return lab.finish(job, lab.cause())


@row("worker SIGSEGV, a task per rank", "the same without agents", code=139, faulty=SRUN_NAMES.format(2, 1, "Segmentation fault"))
def segv_as_task(lab):
    job = lab.task_job(words=["--hurt", "segv"])
    return lab.finish(job, lab.cause())


def kill_rank(lab, job, number):
    job.trains()
    return lab.finish(job, job.rank(number).kill())


@row("worker SIGKILL", "rank 1 is killed in the training; agents", quick=True, code=137, faulty=AGENT_NAMES.format(1, 2, "was killed by SIGKILL"))
def killed(lab):
    return kill_rank(lab, lab.agent_job(words=["--pause", "0.5"]), 1)


@row("worker SIGKILL, a task per rank", "the same without agents", code=137, faulty=SRUN_NAMES.format(2, 1, "Killed"))
def killed_as_task(lab):
    return kill_rank(lab, lab.task_job(words=["--pause", "0.5"]), 1)


def lacks_group(version, sign):
    """What a machine lacks that is to count memory by that version."""
    if not os.path.exists(sign):
        return f"this machine does not count memory by cgroup {version}"
    return "" if os.geteuid() == 0 else "it needs root"


def lacks_first():
    return lacks_group("v1", "/sys/fs/cgroup/memory")


def lacks_second():
    return lacks_group("v2", "/sys/fs/cgroup/cgroup.controllers")


# Where a processor is emulated, ranks take minutes to begin.
OUT_OF_MEMORY = {"code": 137, "emulate": ("--fault", "oom:2@" + os.environ.get("HPCML_MATRIX_OOM_AT", "25s")), "faulty": AGENT_NAMES.format(1, 2, "was killed by SIGKILL")}


@row("worker OOM, cgroup v2", "the same by cgroup v2; on a machine without it in one that QEMU makes", lacks=lacks_second, guest=True, alone=True, **OUT_OF_MEMORY)
@row("worker OOM, cgroup v1", "the kernel kills rank 1, whose step's limit is lowered to what it has; agents", lacks=lacks_first, **OUT_OF_MEMORY)
def out_of_memory(lab):
    job = lab.agent_job("--mem", "2G", words=["--pause", "5"], together=True)
    job.trains()
    seen = lab.finish(job, lab.fault_reported("fault: .*node002") - 1)  # the fault is said when it is done
    if not job.err.find("the run exited with code 137: out-of-memory"):
        seen.wrong.append("the run's word is not out-of-memory")
    return seen


@row("worker SIGKILL, restarted", "the same with --max-restarts 1 and checkpoints: the ranks go on", quick=True, faulty=AGENT_NAMES.format(1, 2, "was killed by SIGKILL"),
     equal=True)
def killed_restarted(lab):
    job = lab.agent_job("--max-restarts", "1", "--checkpoint-dir", lab.checkpoints, words=["--pause", "0.05"])
    job.trains()
    return lab.finish(job, job.rank(1).kill())


@row("rank 0 killed", "rank 0 is killed in the training; agents", quick=True, code=137, faulty=AGENT_NAMES.format(0, 1, "was killed by SIGKILL"))
def first_killed(lab):
    return kill_rank(lab, lab.agent_job(words=["--pause", "0.5"]), 0)


@row("rank 0 killed, a task per rank", "the same without agents", quick=True, code=137, faulty=SRUN_NAMES.format(1, 0, "Killed"))
def first_killed_as_task(lab):
    return kill_rank(lab, lab.task_job(words=["--pause", "0.5"]), 0)


@row("agent killed", "the agent of the second node is killed", quick=True, code=137, faulty="the agent of node002 disconnected")
def agent_killed(lab):
    job = lab.agent_job(words=["--pause", "0.5"])
    job.trains()
    return lab.finish(job, job.agent(1).kill())


@row("first node's agent killed", "the agent of the first node, which decides for all, is killed", quick=True, code=None, alone=True,
     faulty=r"hpcml: error: the agent of the first node \(node001(, [0-9.:]+)?\) disconnected")
def first_agent_killed(lab):
    # srun kills the second agent when the first one exits. On a busy machine, that agent may have no time to report.
    job = lab.agent_job(words=["--pause", "0.8"], together=True)
    job.trains()
    seen = lab.finish(job, job.agent(0).kill())
    if seen.code not in (125, 137):  # of the agents that are left, or of the one that was killed: srun takes what it hears first
        seen.wrong.append(f"exit code {seen.code}, neither 125 nor 137")
    return seen


@row("store killed", "the process that serves the ranks' store is killed; agents", quick=True, code=125, faulty="hpcml: .*store")
def store_killed(lab):
    job = lab.agent_job("--store", "own", words=["--pause", "0.5"])
    job.trains()
    return lab.finish(job, job.store().kill())


@row("store killed, a task per rank", "the script's store is killed after the rendezvous, when the ranks no longer need it", quick=True, equal=True)
def script_store_killed(lab):
    job = lab.task_job("--store", "own", words=["--pause", "0.05"])
    job.trains()
    job.store().kill()
    return lab.finish(job)


def path_without(*names):
    """A PATH that has all programs of this machine but these."""
    os.mkdir("bin")
    for name in os.listdir("/usr/bin"):
        if name not in names:
            os.symlink("/usr/bin/" + name, "bin/" + name)
    return {"PATH": os.path.abspath("bin") + ":/usr/sbin"}


@row("a rank hangs", "rank 1 of 4 sleeps for ever; agents, --stall-timeout 20, no gdb and no py-spy in PATH", quick=True, code=124,
     faulty=r"hpcml:  *rank 1 \(node001\): .*; 3 others", knowable="20 s after the last sign of life", waits=20)
def hangs(lab):
    job = lab.agent_job("--stall-timeout", "20", words=["--hurt", "hang"], ranks=2, more=path_without("gdb", "py-spy"))
    return lab.finish(job, lab.cause(), allowance=20)


@row("a rank hangs, seen by gdb", "rank 1 of 3 sleeps for ever; agents, --stall-timeout 20, gdb reads the symbols of LibTorch for each rank", code=124, alone=True, nodes=3,
     faulty=r"hpcml:  *rank 1 \(node002\): .*; 2 others", knowable="20 s after the last sign of life", waits=20)
def hangs_seen(lab):
    job = lab.agent_job("--stall-timeout", "20", words=["--hurt", "hang"])
    return lab.finish(job, lab.cause(), allowance=20)


@row("a rank is stopped", "SIGSTOP for rank 1 of 4; agents, --stall-timeout 20, no gdb and no py-spy in PATH", code=124,
     faulty=r"hpcml:  *rank 1 \(node001\): .*; 3 others", knowable="20 s after the last sign of life", waits=20)
def is_stopped(lab):
    job = lab.agent_job("--stall-timeout", "20", words=["--pause", "0.2"], ranks=2, more=path_without("gdb", "py-spy"))
    job.trains(4)
    return lab.finish(job, job.rank(1).kill(signal.SIGSTOP), allowance=20)
