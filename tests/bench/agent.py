#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What an agent costs, torchrun beside it in one run: python3 tests/bench/agent.py [HPCML [TORCHRUN]]

Start of 8 ranks to the last one's first line, the agent's memory while they run (with the processes that it keeps beside it), its
processor time while nothing happens, and from a rank's end to its failure being known at each of 4 agents on this machine. Goals: goals.json.
"""
import os
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

import goals

BUILT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../build/release/bin/hpcml")
HPCML = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else BUILT)
TORCHRUN = sys.argv[2] if len(sys.argv) > 2 else shutil.which("torchrun")
RANKS = 8
OURS = "hpcml torchrun"


def clean():
    return {name: value for name, value in os.environ.items() if not name.startswith(("SLURM", "MASTER", "HPCML", "TORCHELASTIC", "PET_"))}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def start_time(command):
    """Seconds until the last of the ranks has begun."""
    with tempfile.TemporaryDirectory() as directory:
        begun = time.time()
        words = [*command, "--nproc-per-node", str(RANKS), "--no-python", "/bin/sh", "-c", f"date +%s.%N > {directory}/$RANK"]
        subprocess.run(words, env=clean(), check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return max(float(open(os.path.join(directory, name), encoding="ascii").read()) for name in os.listdir(directory)) - begun


def own_processes(pid):
    """The agent and those children that are no ranks."""
    listed = subprocess.run(["ps", "-eo", "pid=,ppid=,comm="], stdout=subprocess.PIPE, text=True, check=True).stdout
    rows = [line.split(None, 2) for line in listed.splitlines()]
    return [pid] + [int(row[0]) for row in rows if int(row[1]) == pid and not row[2].startswith(("sleep", "sh"))]


def memory(pid):
    total = 0
    for line in open(f"/proc/{pid}/smaps_rollup", encoding="ascii"):
        if line.startswith("Pss:"):
            total += int(line.split()[1])
    return total / 1024


def processor(pid):
    words = open(f"/proc/{pid}/stat", encoding="ascii").read().rsplit(")", 1)[1].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def idle_cost(command):
    running = subprocess.Popen([*command, "--nproc-per-node", str(RANKS), "--no-python", "/bin/sleep", "60"], env=clean(),
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(8)
    own = own_processes(running.pid)
    used = sum(map(processor, own))
    megabytes = sum(map(memory, own))
    time.sleep(20)
    share = (sum(map(processor, own)) - used) / 20
    running.send_signal(signal.SIGTERM)
    running.wait()
    return megabytes, share


def known_everywhere(command):
    """Milliseconds from the end of a rank to the last agent's stopping its own."""
    with tempfile.TemporaryDirectory() as directory:
        script = (f"trap 'date +%s.%N > {directory}/stopped.$RANK; exit 0' TERM; touch {directory}/up.$RANK;"
                  f"if test $RANK = 3; then while test $(ls {directory} | grep -c up) -lt 4; do sleep 0.1; done; sleep 1;"
                  f"date +%s.%N > {directory}/failed; exit 1; fi; while test -d {directory}; do sleep 0.01; done")
        port = free_port()
        words = ["--nnodes", "4", "--rdzv-backend", "c10d", "--rdzv-endpoint", f"127.0.0.1:{port}", "--rdzv-id", "bench",
                 "--no-python", "/bin/sh", "-c", script]
        agents = [subprocess.Popen([*command, *words], env=clean(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                  for _ in range(4)]
        try:
            for agent in agents:
                agent.wait(120)
        finally:
            for agent in agents:  # those that did not hear of it
                if agent.poll() is None:
                    agent.kill()
                    agent.wait()
        times = {name: float(open(os.path.join(directory, name), encoding="ascii").read())
                 for name in os.listdir(directory) if not name.startswith("up")}
        return (max(when for name, when in times.items() if name.startswith("stopped")) - times["failed"]) * 1e3


def compare(name, values, unit):
    """A line for each side; the row is ours."""
    for who, value in values.items():
        described = goals.note(name, value, ours={unit: value}, peer={unit: values.get("torchrun")}) if who == OURS else ""
        print(f"{who:15} {goals.GOALS[name]['what']}: {value:.3g} {unit} {described}", flush=True)


def main():
    rows = {OURS: [HPCML, "torchrun"]}
    if TORCHRUN:
        rows["torchrun"] = [TORCHRUN]
    starts = {name: [] for name in rows}
    for _ in range(5):
        for name, command in rows.items():
            starts[name].append(start_time(command))
    for name, times in starts.items():
        print(f"{name:15} {RANKS} ranks have begun after {statistics.median(times) * 1e3:.0f} ms")
    if TORCHRUN:
        ours, peer = (statistics.median(starts[name]) for name in (OURS, "torchrun"))
        ratio = statistics.median(a / b for a, b in zip(starts[OURS], starts["torchrun"]))
        described = goals.note("launch/start", ratio, ours={"wall_ms": round(ours * 1e3)}, peer={"wall_ms": round(peer * 1e3)}, pairs=5)
        print(f"start, share of torchrun's: {ratio:.3g} {described}")
    idle = {name: idle_cost(command) for name, command in rows.items()}
    compare("launch/memory", {name: cost[0] for name, cost in idle.items()}, "MB")
    compare("launch/idle", {name: cost[1] * 100 for name, cost in idle.items()}, "%")
    known = {}
    for name, command in rows.items():
        try:
            known[name] = statistics.median([known_everywhere(command) for _ in range(3)])
        except (subprocess.TimeoutExpired, KeyError, ValueError) as problem:
            print(f"{name:15} a failure at 4 agents: not measured ({problem!r})")
    compare("launch/failure", known, "ms")


if __name__ == "__main__":
    main()
