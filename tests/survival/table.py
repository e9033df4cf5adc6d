# SPDX-License-Identifier: MIT
"""The matrix as people read it."""
import os
import re
import subprocess
import time

HEAD = """# Fault matrix

Each row is a training on a separate emulated cluster, with one fault. The training is `tests/survival/train.py`: LibTorch
through Python, Gloo, float64, and a child process for each rank. `python3 tests/survival/matrix.py HPCML` runs the rows,
`--quick` only those of CI. `.ci/full matrix` runs all of them and writes this page.

A row passes if all of these hold:

- The exit code is the one in [Checkpoint and requeue](../guides/checkpoint-and-requeue.md). For jobs with one task per rank
  that is the exit code of `hpcml submit --watch`.
- A line on standard error names the failed rank or node and the reason within 5 s. The time starts when the cause can be
  known. For a rank that hangs, that is the timeout in the row.
- Ten seconds after the end no process of the job is left.
- The job was requeued as often as the row states.
- If the training completes, its weights equal those of an uninterrupted run, to the last bit.

"Agents" means `--log-dir`. Otherwise each task is a rank. Emulated clusters find the processes of a task by their parents
(`proctrack/linuxproc`), where sites use cgroups. In rows without agents, the children of ranks therefore exit with their
parent, as the data loaders of torch do. In rows with agents they do not.

"""
COLUMNS = ["fault", "what is done", "exit code", "the line that names it", "known", "seconds", "left behind", "requeues", "verdict", "run"]
LONGEST = 150  # characters of a line


def result(seen, found):
    if seen.not_run:
        return "not run: " + seen.not_run
    return "fails: " + "; ".join(found) if found else "passed"


def describe(wanted, seen, found):
    """A row on the terminal."""
    named = f", named after {max(seen.seconds, 0):.1f} s" if seen.line else ""
    return f"{wanted.name}: {result(seen, found)} (code {seen.code}{named}; {seen.took:.0f} s)"


def reported_by(*words):
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
    return [wanted.name, wanted.done, code, *named, left, "" if seen.not_run else seen.requeues, result(seen, found), run]


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
    commit = reported_by("git", "-C", here, "rev-parse", "--short", "HEAD")
    run = time.strftime("%Y-%m-%d", time.gmtime()) + " " + commit
    rows = kept_rows(path)
    for _, wanted, seen, found in results:
        rows[wanted.name] = "| " + " | ".join(cell(text) for text in cells(wanted, seen, found, run)) + " |"
    lines = [rows[name] for name in order if name in rows]
    passed = sum("| passed |" in line for line in lines)
    versions = reported_by("/usr/sbin/slurmd", "-V") or reported_by("slurmd", "-V") or "no Slurm"
    torch = reported_by("/usr/bin/python3", "-c", "import torch; print(torch.__version__)")
    with open(path, "w", encoding="utf-8") as file:
        file.write(HEAD)
        file.write(f"Last run: {run}; {versions}, torch {torch}, Linux {os.uname().release.split('-')[0]}; {passed} of {len(lines)} rows passed.\n\n")
        file.write("| " + " | ".join(COLUMNS) + " |\n" + "|---" * len(COLUMNS) + "|\n" + "\n".join(lines) + "\n")
