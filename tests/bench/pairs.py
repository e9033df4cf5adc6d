# SPDX-License-Identifier: MIT
"""Two commands in turns: what each pair of runs says, so that whatever else the machine does meets both."""
import os
import re
import shutil
import statistics
import subprocess
import tempfile
import time


class Run:
    """One run of a command: seconds of the wall, of processors (its own and its children's), and its peak of memory in MB."""

    def __init__(self, command, env=None, cwd=None):
        with tempfile.TemporaryFile() as reported:
            begun = time.monotonic()
            process = subprocess.Popen(command, env=env, cwd=cwd, stdin=subprocess.DEVNULL, stdout=reported, stderr=subprocess.STDOUT)
            _, status, usage = os.wait4(process.pid, 0)
            self.wall = time.monotonic() - begun
            process.returncode = self.code = os.waitstatus_to_exitcode(status)
            reported.seek(0)
            self.text = reported.read().decode(errors="replace")
        self.processor = usage.ru_utime + usage.ru_stime
        self.user = usage.ru_utime
        self.memory = usage.ru_maxrss / 1024


def run_well(command, codes=(0,), **place):
    done = Run(command, **place)
    if done.code not in codes:
        raise SystemExit(f"{' '.join(command)} ended with {done.code}:\n{done.text[-2000:]}")
    return done


def median_of(runs, what):
    return statistics.median(getattr(run, what) for run in runs)


def run_pairs(ours, peer, count, codes=(0,), **place):
    """Runs of both, in turns that change their order; the first of each, which fills caches, is not kept."""
    kept = {"ours": [], "peer": []}
    for turn in range(count + 1):
        order = [("ours", ours), ("peer", peer)]
        for who, command in order if turn % 2 else reversed(order):
            done = run_well(command, codes, **place)
            if turn:
                kept[who].append(done)
    return kept


def compare(kept):
    """The median of the pairs' ratios of wall time, and each side's medians in milliseconds."""
    ratio = statistics.median(a.wall / b.wall for a, b in zip(kept["ours"], kept["peer"]))
    sides = {who: {"wall_ms": round(median_of(runs, "wall") * 1e3, 2), "user_ms": round(median_of(runs, "user") * 1e3, 2),
                   "processor_ms": round(median_of(runs, "processor") * 1e3, 2), "memory_mb": round(median_of(runs, "memory"), 1)}
             for who, runs in kept.items()}
    return ratio, sides


def count_calls(command, **place):
    """How many processes a command is, and how many system calls they make; nothing where there is no strace."""
    if not shutil.which("strace"):
        return {}
    with tempfile.TemporaryDirectory() as directory:
        table = os.path.join(directory, "calls")
        Run(["strace", "-f", "-qq", "-c", "-o", table, *command], **place)
        text = open(table, encoding="ascii", errors="replace").read()
    total, programs = 0, 0
    for line in text.splitlines():
        found = re.match(r"\s*[\d.]+\s+[\d.]+\s+\d+\s+(\d+)\s+(\d*)\s*(\w+)\s*$", line)
        if not found:
            continue
        if found.group(3) == "total":
            total = int(found.group(1))
        elif found.group(3) == "execve":
            programs = int(found.group(1)) - int(found.group(2) or 0)
    return {"calls": total, "programs": programs}
