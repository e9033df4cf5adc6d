# SPDX-License-Identifier: MIT
"""The matrix as people read it."""
import os
import re
import subprocess
import time

HEAD = """# The matrix of faults

Each row is a training (`tests/survival/train.py`: LibTorch through Python, Gloo, float64; each rank has a child) on an emulated cluster of its own that something
is done to. `python3 tests/survival/matrix.py HPCML` runs them, `--quick` those that CI runs, `.ci/full matrix` all of them and writes this page.

A row has passed where all of this holds: the exit code is the one that [checkpoint and requeue](../guides/checkpoint-and-requeue.md) promises (Slurm's own; of jobs with a task per rank that of `hpcml submit --watch`);
where there is a culprit, a line on standard error names who, where and why within 5 s of when that can be known; no process with the job's mark is left ten seconds after its end; it
was requeued exactly as often as it says; and where the training comes to its end, its weights are those of an uninterrupted run, to the last bit. Seconds are from when the cause can be
known until the line; for silence that is when the time-out runs out which the row names.

"Agents": `--log-dir`; otherwise a task is a rank. Emulated clusters find a task's processes by their parents (`proctrack/linuxproc`), where sites have cgroups: in rows without agents the ranks' children go by themselves when
their parent has gone, as torch's data loaders do; in those with agents they heed nobody.

"""
COLUMNS = ["fault", "what is done", "exit code", "the line that names it", "known", "seconds", "left behind", "requeues", "verdict", "run"]
LONGEST = 150  # characters of a line


def verdict(seen, found):
    if seen.not_run:
        return "not run: " + seen.not_run
    return "fails: " + "; ".join(found) if found else "passed"


def describe(wanted, seen, found):
    """A row on the terminal."""
    named = f", named after {max(seen.seconds, 0):.1f} s" if seen.line else ""
    return f"{wanted.name}: {verdict(seen, found)} (code {seen.code}{named}; {seen.took:.0f} s)"


def said_by(*words):
    try:
        return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False).stdout.strip()
    except OSError:
        return ""


def cell(text):
    return re.sub(r"\s+", " ", str(text)).replace("|", "\\|")


def cells(wanted, seen, found, run):
    line = seen.line if len(seen.line) <= LONGEST else seen.line[:LONGEST] + " …"
    line = re.sub(r"\S*/matrix-\w+/\d+/", "", line)
    named = [f"`{line}`", wanted.knowable, f"{max(seen.seconds, 0):.1f}"] if line else ["", "", ""]
    code = "" if seen.not_run or seen.code is None else seen.code
    left = "" if seen.not_run else ", ".join(seen.orphans) or "nothing"
    return [wanted.name, wanted.done, code, *named, left, "" if seen.not_run else seen.requeues, verdict(seen, found), run]


def kept_rows(path):
    """The rows of a page that was written before: name, line."""
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as file:
        lines = [line.rstrip("\n") for line in file if line.startswith("| ")]
    return {re.split(r" (?<!\\)\| ", line[2:])[0]: line for line in lines[1:]}


def write(path, results, order):
    """Rows that were not run this time stay as they are, with the commit of their own run."""
    here = os.path.dirname(os.path.abspath(__file__))
    commit = said_by("git", "-C", here, "rev-parse", "--short", "HEAD")
    run = time.strftime("%Y-%m-%d", time.gmtime()) + " " + commit
    rows = kept_rows(path)
    for _, wanted, seen, found in results:
        rows[wanted.name] = "| " + " | ".join(cell(text) for text in cells(wanted, seen, found, run)) + " |"
    lines = [rows[name] for name in order if name in rows]
    passed = sum("| passed |" in line for line in lines)
    versions = said_by("/usr/sbin/slurmd", "-V") or said_by("slurmd", "-V") or "no Slurm"
    torch = said_by("/usr/bin/python3", "-c", "import torch; print(torch.__version__)")
    with open(path, "w", encoding="utf-8") as file:
        file.write(HEAD)
        file.write(f"Last run: {run}; {versions}, torch {torch}, Linux {os.uname().release.split('-')[0]}; {passed} of {len(lines)} rows passed.\n\n")
        file.write("| " + " | ".join(COLUMNS) + " |\n" + "|---" * len(COLUMNS) + "|\n" + "\n".join(lines) + "\n")
