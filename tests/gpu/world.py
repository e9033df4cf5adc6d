# SPDX-License-Identifier: MIT
"""Ranks of one job on this machine's GPUs.

NCCL refuses two ranks on one GPU of one machine. Where there are fewer GPUs than ranks, each rank says that it is a machine of its own
(NCCL_HOSTID): they share the GPU in turns and speak by sockets, so that everything but the speed is as between nodes.
"""
import json
import os
import shutil
import socket
import subprocess
import time


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


def rank_variables(rank, ranks, gpus, port):
    place = {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(ranks), "LOCAL_WORLD_SIZE": str(ranks),
             "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "GLOO_SOCKET_IFNAME": "lo", "NCCL_SOCKET_IFNAME": "lo",
             "OMP_NUM_THREADS": "2"}
    if ranks > gpus:
        place["NCCL_HOSTID"] = f"rank{rank}"
    return place


def stacks_of(pid):
    """Where a process that does not end is, if there is a debugger."""
    debugger = shutil.which("gdb") or shutil.which("cuda-gdb")
    if debugger is None:
        return ""
    try:
        done = subprocess.run([debugger, "-p", str(pid), "-batch", "-ex", "thread apply all bt 14"], capture_output=True, text=True, check=False,
                              timeout=30)
        return done.stdout
    except subprocess.TimeoutExpired:
        return ""


class World:
    """The ranks of one command; `words_of` may give each its own."""

    def __init__(self, ranks, gpus, command=None, words_of=None, env=None, **pipes):
        port = free_port()
        self.start = time.monotonic()
        self.processes = []
        for rank in range(ranks):
            variables = {**os.environ, **rank_variables(rank, ranks, gpus, port), **(env or {})}
            self.processes.append(subprocess.Popen(words_of(rank) if words_of else command, env=variables, text=True,
                                                   **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **pipes}))

    def finish(self, limit=180):
        """Waits for all; a rank's exit code (None: it had to be killed), lines of JSON, text and seconds, in the order of ranks."""
        ends = []
        for process in self.processes:
            try:
                out, err = process.communicate(timeout=max(1, limit - (time.monotonic() - self.start)))
                code = process.returncode
            except subprocess.TimeoutExpired:
                stacks = stacks_of(process.pid)
                process.kill()
                out, err = process.communicate()
                err += stacks
                code = None
            reported = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
            ends.append({"code": code, "said": reported, "out": out, "err": err, "seconds": time.monotonic() - self.start})
        return ends
