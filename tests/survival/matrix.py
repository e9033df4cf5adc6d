#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The matrix of faults: each row hurts a training on an emulated cluster of its own, and says what became of it.

    matrix.py HPCML [--quick] [--only TEXT…] [--table FILE] [--at-once N] [--kernel FOLDER]     exit code 0: all rows that ran passed

--quick: the rows that take seconds, as CI runs them. --only: rows whose name has a TEXT. --table: docs/development/fault-matrix.md. --kernel: of Debian, unpacked
there, for rows that need one with cgroup v2 alone (tests/guest). Needs Slurm and Debian's
python3-torch. What a row must show is said where it is written (rows_*.py) and judged in one place (row.py).
"""
import argparse
import concurrent.futures
import dataclasses
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True  # nothing is left in the source tree

import lab  # noqa: E402
import rows_ranks  # noqa: E402,F401  (its rows; in the order of the table)
import rows_places  # noqa: E402,F401
import rows_nodes  # noqa: E402,F401
import rows_heartbeat  # noqa: E402,F401
import rows_ends  # noqa: E402,F401
import rows_disks  # noqa: E402,F401
import table  # noqa: E402
from row import AT_MOST, AT_MOST_BESIDE_TESTS, ROWS, Outcome, faults  # noqa: E402

sys.path.append(os.path.join(lab.HERE, "..", "guest"))
import guest  # noqa: E402

sys.path.append(os.path.join(lab.HERE, "..", "python"))
import skip  # noqa: E402

LIMIT = 900  # seconds of a row


def base_directory(hpcml):
    """A folder that the nodes share, and that is no node's own: the build's, or, where that is below /tmp, the user's."""
    build = os.path.dirname(os.path.dirname(hpcml))
    return build if not re.match(r"/(var/)?tmp/|/dev/shm/", build + "/") else os.path.expanduser("~")


def reference(hpcml, directory):
    """The weights of a training that nothing interrupts."""
    done = subprocess.run([hpcml, "launch", "--bind", "none", "--nproc-per-node", "2", "--", *lab.PYTHON], cwd=directory, stdout=subprocess.PIPE, text=True,
                          check=True)
    return re.search(r"final ([0-9a-f]{64})", done.stdout)[1]


def run_in_guest(wanted, hpcml, kernel):
    """The row as this program runs it in a machine with another kernel."""
    words = shlex.join([sys.executable, os.path.abspath(__file__), hpcml, "--only", wanted.name, "--outcomes"])
    try:
        shown = guest.run(kernel, f"{guest.HAND_ON}HPCML_MATRIX_OOM_AT=240s {words}\n", timeout=LIMIT)
    except subprocess.TimeoutExpired as late:
        shown = (late.stdout or b"").decode(errors="replace")
    found = re.search(r"^outcome (\{.*\})$", shown, re.MULTILINE)
    return Outcome(**json.loads(found[1])) if found else Outcome(wrong=["it came to no end: " + shown[-2000:]])


def run_row(wanted, hpcml, directory, whole, kernel):
    """The row's cluster, in a folder of its own."""
    words = [hpcml, "emulate", "--site", "generic", "--nodes", str(wanted.nodes), "--cpus-per-node", "32", "--mem-per-node", "64G", "--quiet",
             *wanted.emulate, "--", sys.executable, os.path.abspath(__file__), hpcml, "--inside", wanted.name]
    why = wanted.lacks() if wanted.lacks else "only root can mount a small disk" if wanted.unshared and os.geteuid() != 0 else ""
    if why:
        return run_in_guest(wanted, hpcml, kernel) if wanted.guest and kernel else Outcome(not_run=why)
    if wanted.unshared:
        words = ["unshare", "--mount", "sh", "-c", 'mkdir small && mount -t tmpfs -o size=256k small small && exec "$@"', "sh", *words]
    os.makedirs(directory)
    begun = time.time()
    process = subprocess.Popen(words, cwd=directory, env=dict(os.environ, HPCML_MATRIX_WEIGHTS=whole), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace")
    ender = threading.Timer(LIMIT, process.terminate)
    ender.start()
    with open(os.path.join(directory, "emulate.err"), "w", encoding="utf-8") as kept:
        for line in process.stderr:
            kept.write(f"{time.time()} {line}")
            kept.flush()
    process.wait()
    ender.cancel()
    try:
        with open(os.path.join(directory, "outcome.json"), encoding="utf-8") as file:
            seen = Outcome(**json.load(file))
    except OSError:
        with open(os.path.join(directory, "emulate.err"), encoding="utf-8") as file:
            seen = Outcome(wrong=["it came to no end: " + file.read()[-2000:]])
    seen.took = time.time() - begun
    return seen


def run_inside(hpcml, name):
    """On the login node: what is seen goes into a file."""
    wanted = next(row for row in ROWS if row.name == name)
    ground = lab.Lab(hpcml, wanted)
    try:
        seen = wanted.run(ground)
    except (lab.Never, OSError, ValueError) as error:
        seen = Outcome(wrong=[str(error)])
    with open("outcome.json.part", "w", encoding="utf-8") as file:
        json.dump(dataclasses.asdict(seen), file)
    os.rename("outcome.json.part", "outcome.json")


def show_files(directory):
    """Those of a row; one that ran in another machine has left none here."""
    for name in sorted(os.listdir(directory)) if os.path.isdir(directory) else []:
        if name.endswith((".out", ".err")):
            with open(os.path.join(directory, name), encoding="utf-8", errors="replace") as file:
                print(f"--- {name}\n{file.read()[-4000:]}", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("hpcml")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", nargs="+", default=[""])
    parser.add_argument("--table")
    parser.add_argument("--at-once", type=int, default=5, help="so many rows run beside each other")
    parser.add_argument("--keep", action="store_true", help="the rows' folders")
    parser.add_argument("--kernel")
    parser.add_argument("--outcomes", action="store_true", help="what was seen, as JSON, not judged")
    parser.add_argument("--inside", help=argparse.SUPPRESS)
    words = parser.parse_args()
    hpcml = os.path.abspath(words.hpcml)
    if words.inside:
        return run_inside(hpcml, words.inside)
    if os.geteuid() != 0:
        skip.report_skip("survival-matrix", "only root can look at the processes of other nodes")
        return 0
    chosen = [row for row in ROWS if any(text in row.name for text in words.only) and (row.quick or not words.quick)]
    directory = tempfile.mkdtemp(prefix="matrix-", dir=base_directory(hpcml))
    results = []
    try:
        if words.outcomes:
            for number, row in enumerate(chosen):
                print("outcome " + json.dumps(dataclasses.asdict(run_row(row, hpcml, os.path.join(directory, str(number)), "", None))), flush=True)
            return 0
        whole = reference(hpcml, directory)
        for alone in (False, True):
            with concurrent.futures.ThreadPoolExecutor(1 if alone else words.at_once) as pool:
                runs = {pool.submit(run_row, row, hpcml, os.path.join(directory, str(number)), whole, words.kernel): (number, row)
                        for number, row in sorted(enumerate(chosen), key=lambda pair: -pair[1].waits) if row.alone == alone}
                for run in concurrent.futures.as_completed(runs):
                    number, wanted = runs[run]
                    seen = run.result()
                    found = [] if seen.not_run else faults(wanted, seen, whole, AT_MOST_BESIDE_TESTS if words.quick else AT_MOST)
                    results.append((number, wanted, seen, found))
                    print(table.describe(wanted, seen, found), flush=True)
                    if seen.not_run:
                        skip.report_skip("survival-matrix", f"{wanted.name}: {seen.not_run}")
                    if found:
                        show_files(os.path.join(directory, str(number)))
    finally:
        if not words.keep:
            shutil.rmtree(directory, ignore_errors=True)
    results.sort(key=lambda result: result[0])
    if words.table:
        table.write(words.table, results, [row.name for row in ROWS])
    failed, skipped = sum(bool(found) for *_, found in results), sum(bool(seen.not_run) for _, _, seen, _ in results)
    print(f"{len(results) - failed - skipped} of {len(results)} faults end as they should" + (f", {skipped} not run" if skipped else ""))
    return 1 if failed or not results else 0


sys.exit(main())
