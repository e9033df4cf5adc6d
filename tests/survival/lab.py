# SPDX-License-Identifier: MIT
"""On the login node of an emulated cluster: submits a row's jobs, hurts them, and looks at what becomes of them."""
import os
import re
import signal
import subprocess
import threading
import time

from row import Outcome

HERE = os.path.dirname(os.path.abspath(__file__))
PYTHON = ["/usr/bin/python3", "-W", "ignore", os.path.join(HERE, "train.py")]
MARK = "HPCML_MATRIX_JOB"
LONG = 240  # seconds; nothing that is waited for takes so long


class Never(Exception):
    """What was waited for did not come."""


def until(what, find, limit=LONG):
    """What `find` gives, once it gives something."""
    end = time.time() + limit
    while True:
        found = find()
        if found:
            return found
        if time.time() > end:
            raise Never(f"never came: {what}")
        time.sleep(0.05)


def output_of(*words):
    """A program's standard output; empty where it failed."""
    return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False).stdout


class Log(threading.Thread):
    """The lines of a file that others write, with the times when they came."""

    def __init__(self, path):
        super().__init__(daemon=True)
        self.path, self.lines = path, []
        self.start()

    def run(self):
        until(self.path, lambda: os.path.exists(self.path), 3600)
        with open(self.path, encoding="utf-8", errors="replace") as file:
            line = ""
            while True:
                line += file.readline()
                if line.endswith("\n"):
                    self.lines.append((time.time(), line.rstrip("\n")))
                    line = ""
                else:
                    time.sleep(0.02)

    def final(self):
        found = self.find(r"\bfinal [0-9a-f]{64}")
        return found[1].rpartition(" ")[2] if found else ""

    def find(self, pattern, after=0.0):
        return next(((at, line) for at, line in list(self.lines) if at >= after and re.search(pattern, line)), None)


class Process:
    def __init__(self, pid):
        self.pid = pid

    def read(self, name):
        try:
            with open(f"/proc/{self.pid}/{name}", "rb") as file:
                return file.read()
        except OSError:
            return b""

    @property
    def environment(self):
        return dict(entry.split("=", 1) for entry in self.read("environ").decode(errors="replace").split("\0") if "=" in entry)

    @property
    def words(self):
        return self.read("cmdline").decode(errors="replace").split("\0")[:-1]

    @property
    def program(self):
        try:
            return os.path.basename(os.readlink(f"/proc/{self.pid}/exe"))
        except OSError:
            return ""

    @property
    def parent(self):
        return Process(int(self.read("stat").decode(errors="replace").rpartition(") ")[2].split()[1] or 0)) if self.read("stat") else None

    def listens(self, port):
        """Whether it has a socket that listens there."""
        sockets = set()
        for table in ("net/tcp", "net/tcp6"):
            for line in self.read(table).decode().splitlines()[1:]:
                fields = line.split()
                if fields[3] == "0A" and int(fields[1].rpartition(":")[2], 16) == port:
                    sockets.add(f"socket:[{fields[9]}]")
        try:
            return any(os.readlink(f"/proc/{self.pid}/fd/{fd}") in sockets for fd in os.listdir(f"/proc/{self.pid}/fd"))
        except OSError:
            return False

    def kill(self, number=signal.SIGKILL):
        """When it was sent."""
        at = time.time()
        os.kill(self.pid, number)
        return at


class Job:
    def __init__(self, name, number, together):
        self.name, self.number, self.together = name, number, together
        self.out = Log(name + ".out")
        self.err = self.out if together else Log(name + ".err")

    def processes(self):
        """All that carry the job's mark, wherever they have gone."""
        all_of_node = [Process(int(name)) for name in os.listdir("/proc") if name.isdigit()]
        return [process for process in all_of_node if process.environment.get(MARK) == self.name]

    def rank(self, number):
        """The training program of a rank."""
        return until(f"rank {number} of {self.name}", lambda: next(
            (p for p in self.processes() if p.program.startswith("python") and p.environment.get("RANK") == str(number)), None))

    def agent(self, node):
        """Slurm's own task on a node: its agent."""
        return until(f"the agent of node {node}", lambda: next(
            (p for p in self.processes() if p.program == "hpcml" and p.environment.get("SLURM_NODEID") == str(node) and "batch" not in p.words[:3]
             and p.parent and p.parent.program.startswith("slurmstepd")), None))

    def store(self):
        """The process of hpcml that serves the store of the ranks."""
        port = int(self.rank(0).environment["HPCML_STORE_ADDR"].rpartition(":")[2])
        return until("the store", lambda: next((p for p in self.processes() if p.program == "hpcml" and p.listens(port)), None))

    def wait_for_line(self, pattern, stream="out", after=0.0, limit=LONG):
        log = getattr(self, stream)
        return until(f"'{pattern}' in {self.name}.{stream}", lambda: log.find(pattern, after), limit)

    def trains(self, ranks=2, after=0.0):
        """Waits until all ranks have begun."""
        for rank in range(ranks):
            self.wait_for_line(f"rank {rank} of {ranks} begins", after=after)

    def field(self, what):
        """A member of Slurm's own record of the job."""
        found = re.search(rf"\b{what}=(\S+)", output_of("scontrol", "-o", "show", "job", self.number))
        return found[1] if found else ""

    def code(self, hpcml):
        """Slurm's own; of a step with a task per rank, in whose log all is together, as `submit` finds it there."""
        if self.together:
            return subprocess.run([hpcml, "watch", self.number], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode
        return int((self.field("ExitCode") or "-1").partition(":")[0])

    def wait(self, limit=LONG):
        """Until Slurm has ended it."""
        until(f"the end of {self.name}", lambda: not output_of("squeue", "-h", "-j", self.number).strip() and self.field("JobState"), limit)
        return self

    def left(self, limit=10):
        """What still runs of it: a process may take a moment to go."""
        end = time.time() + limit
        while True:
            found = self.processes()
            if not found or time.time() > end:
                return [" ".join(p.words)[:60] for p in found if p.words]
            time.sleep(0.1)


class Lab:
    """One row's cluster."""

    def __init__(self, hpcml, wanted):
        self.hpcml, self.row, self.checkpoints = hpcml, wanted, os.path.abspath("checkpoints")

    def flags(self, *more, nodes=None, ranks=1):
        """Of `hpcml gen` for a job of CPUs."""
        return ["--site", "generic", "--nodes", str(nodes or self.row.nodes), "--tasks-per-node", str(ranks), "--gpus-per-node", "0", "--time", "10",
                "--hpcml-path", self.hpcml, *more]

    def submit(self, name="job", script="", words=(), flags=(), program=None, options=(), together=False, more=()):
        """A job from a script, or as `hpcml gen` writes it with these flags; `words` are the training's, `options` sbatch's; `together`: one log; `more`:
        variables."""
        path = name + ".sh"
        if script:
            with open(path, "w", encoding="utf-8") as file:
                file.write(script)
        else:
            made = subprocess.run([self.hpcml, "gen", *flags, "-o", path, "--", *(program or PYTHON), *words], stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, check=False)
            if made.returncode != 0:
                raise Never("a script: " + made.stdout)
        logs = ["-o", name + ("-%a" if "--array" in flags else "") + ".out", *([] if together else ["-e", name + ".err"])]
        sent = subprocess.run(["sbatch", "--parsable", *logs, *options, path], env=dict(os.environ, **{MARK: name}, **dict(more)),
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if sent.returncode != 0:
            raise Never("a job: " + sent.stdout)
        return Job(name, sent.stdout.strip(), together)

    def agent_job(self, *flags, words=(), name="job", nodes=None, ranks=1, **more):
        return self.submit(name, flags=self.flags("--log-dir", "logs", *flags, nodes=nodes, ranks=ranks), words=words, **more)

    def task_job(self, *flags, words=(), name="job", nodes=None, ranks=1, **more):
        return self.submit(name, flags=self.flags(*flags, nodes=nodes, ranks=ranks), words=words, program=[*PYTHON, "--child-leaves"], together=True, **more)

    @staticmethod
    def now():
        return time.time()

    @staticmethod
    def array_logs(job, tasks):
        """The logs of an array's tasks, which sbatch was told to name by its own pattern."""
        return {task: Log(f"{job.name}-{task}.out") for task in tasks}

    def fault_reported(self, pattern, limit=LONG):
        """When `hpcml emulate` said that a fault had happened: matrix.py writes its lines into a file of this folder."""
        def find():
            if os.path.exists("emulate.err"):
                with open("emulate.err", encoding="utf-8") as file:
                    for line in file:
                        if line.endswith("\n") and re.search(pattern, line):
                            return float(line.split()[0])
            return None
        return until(f"the fault '{pattern}'", find, limit)

    def cause(self):
        """When a rank hurt itself."""
        def find():
            if not os.path.exists("cause"):
                return None
            with open("cause", encoding="utf-8") as file:
                return float(file.read() or 0)  # 0: it is being written
        return until("the cause", find)

    def finish(self, job, cause=0.0, allowance=0.0, limit=LONG):
        """What became of the job."""
        wrong = []
        try:
            job.wait(limit)
        except Never:
            wrong.append(f"its job has not ended {time.time() - cause - allowance:.0f} s later" if cause else "its job does not end")
            output_of("scancel", job.number)
            output_of("scancel", "--signal=KILL", job.number)
            time.sleep(15)
        seen = Outcome(wrong=wrong, code=None if wrong else job.code(self.hpcml), cause=cause, allowance=allowance,
                       requeues=int(job.field("Restarts") or 0), orphans=job.left(), final=job.out.final())
        if self.row.faulty:
            time.sleep(0.1)  # the last lines
            found = job.err.find(self.row.faulty, after=cause - 0.05)
            if found:
                seen.line_at, seen.line = found
        return seen
