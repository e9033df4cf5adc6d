# SPDX-License-Identifier: MIT
"""Runs test cases that start a real Slurm side by side: each has a cluster of its own.

slurm_cases.py [-j N] BINARY...: runs all cases with the tag [slurm], but not [alone], of the Catch2 programs,
N at a time. Prints a line per case with its seconds, and the output of cases that fail.
"""
import argparse
import concurrent.futures
import re
import subprocess
import sys
import time

K_TAGS = "[slurm]~[alone]~[.]"


def list_cases(binary):
    """Returns the names of a program's cases."""
    output = subprocess.run([binary, "--list-test-names-only", K_TAGS], capture_output=True, text=True, check=False)
    if output.stderr:
        raise RuntimeError(f"{binary}: {output.stderr}")
    return [line for line in output.stdout.splitlines() if line]


def run_case(binary, name):
    """Runs one case; returns its exit code, output and seconds."""
    started = time.monotonic()
    escaped = re.sub(r"([\\,\[\]*~\"])", r"\\\1", name)
    output = subprocess.run([binary, escaped], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            text=True, errors="replace", check=False)
    # Without a case of that name Catch2 ends with 0.
    code = 1 if "No test cases matched" in output.stdout or "No tests ran" in output.stdout else output.returncode
    return code, output.stdout, time.monotonic() - started


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-j", type=int, default=4)
    parser.add_argument("binaries", nargs="+")
    options = parser.parse_args()
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(options.j) as pool:
        cases = {pool.submit(run_case, binary, name): name for binary in options.binaries for name in list_cases(binary)}
        for case in concurrent.futures.as_completed(cases):
            code, output, seconds = case.result()
            print(f"{'ok' if code == 0 else 'FAILED':6} {seconds:6.1f} s  {cases[case]}", flush=True)
            if code != 0:
                failed += 1
                print(output, flush=True)
    print(f"{len(cases)} cases, {failed} failed")
    return 1 if failed or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
