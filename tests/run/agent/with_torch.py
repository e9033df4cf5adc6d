#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Real torch programs under agents of this machine: restarts, reports, stalls, nodes that go.

    with_torch.py HPCML      with the Python whose torch is meant
"""
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time

import torch

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "torch_rank.py")
HPCML = os.path.abspath(sys.argv[1])
LIMIT = 600


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Agent:
    """`hpcml torchrun FLAGS… PROGRAM ARGS…`, its output in a file."""

    def __init__(self, flags, words):
        env = {name: value for name, value in os.environ.items()
               if not name.startswith(("TORCHELASTIC_", "MASTER_", "SLURM_", "PET_")) and name not in ("RANK", "WORLD_SIZE")}
        env.update(OMP_NUM_THREADS="1", PYTHON_EXEC=sys.executable, PYTHONWARNINGS="ignore")
        self.file = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen([HPCML, "torchrun", *flags, PROGRAM, *words], env=env, stdout=self.file,
                                        stderr=subprocess.STDOUT, start_new_session=True)

    def end(self):
        try:
            code = self.process.wait(LIMIT)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            code = "it did not end"
        self.file.seek(0)
        return code, self.file.read()


def agents(count, flags, words, port=None):
    port = port or free_port()
    return [Agent(["--rdzv-backend", "c10d", "--rdzv-endpoint", f"127.0.0.1:{port}", "--rdzv-id", "t", *flags], words)
            for _ in range(count)]


def expect(what, ends, codes, texts, absent=()):
    """`codes` of the agents in any order, each of `texts` in what they say together so often."""
    reported = "\n".join(out for _, out in ends)
    faults = [] if sorted(str(code) for code, _ in ends) == sorted(map(str, codes)) else [f"codes {[code for code, _ in ends]}"]
    faults += [f"{reported.count(text)} times {text!r}, not {times}" for text, times in texts.items() if reported.count(text) != times]
    faults += [f"{text!r} is said" for text in absent if text in reported]
    print(f"torch {torch.__version__}, {what}: {'; '.join(faults) or 'as it should be'}", flush=True)
    if faults:
        print(reported)
    return not faults


def check_restart():
    one = Agent(["--nproc-per-node", "2", "--max-restarts", "1"], ["raise", "1"])
    return expect("a rank that raises is named with its exception, and all start again", [one.end()], [0],
                  {"error: ValueError: a bad batch": 1, "sum 3 of 2, start 1": 2, "all ranks are restarted (restart 1 of 1)": 1},
                  absent=["sum 3 of 2, start 0"])


def check_several():
    pair = agents(2, ["--nnodes", "2", "--nproc-per-node", "2"], [])
    return expect("two agents are one world", [one.end() for one in pair], [0, 0], {"sum 10 of 4, start 0": 4})


def check_failure():
    pair = agents(2, ["--nnodes", "2", "--nproc-per-node", "2"], ["exit", "3", "7"])
    return expect("the code of the rank that failed is that of all agents", [one.end() for one in pair], [7, 7],
                  {"rank 3/4 (": 1, "local 1) exited with code 7": 1, "the run exited with code 7: program": 1})


def check_stall():  # 30 s: on a busy machine ranks import torch for more than 15 s before their first output
    with tempfile.TemporaryDirectory() as directory:
        own = subprocess.run([HPCML, "launch", "--nproc-per-node", "2", "--stall-timeout", "30", "--log-dir", directory, "--",
                              sys.executable, "-W", "ignore", PROGRAM, "hang", "1"], stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True, timeout=LIMIT, check=False)
        return expect("ranks of which one hangs are looked at and stopped", [(own.returncode, own.stdout)], [124],
                      {"no output from any rank for 30 s": 1, "first 3": 2})


def check_fewer():
    with tempfile.TemporaryDirectory() as directory:
        mark, port = os.path.join(directory, "go"), free_port()
        flags = ["--nnodes", "2:3", "--rdzv-conf", "last_call_timeout=300"]
        leader = agents(1, flags, ["wait", mark], port)
        until = time.monotonic() + LIMIT
        while not answers(port) and time.monotonic() < until:
            time.sleep(0.05)
        others = agents(2, flags, ["wait", mark], port)
        while len(os.listdir(directory)) < 3 and time.monotonic() < until:
            time.sleep(0.1)
        others[0].process.kill()
        others[0].end()
        open(mark, "w").close()
        return expect("those that are left go on", [leader[0].end(), others[1].end()], [0, 0], {"sum 3 of 2": 2})


def answers(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def main():
    checks = [check_restart, check_several, check_failure, check_stall, check_fewer]
    good = [check() for check in checks]
    sys.exit(0 if all(good) else 1)


main()
