#!/usr/bin/env python3
"""Documented GPU examples of sites, each a job on its emulated site.

site_examples.py BINARY [NAME...]   (NAME: lumi, or lumi.one_task_per_gcd; all without one)

Each file site_examples/SITE.NAME.sh names its source and what it must start:
# Expected: 16 tasks on 2 nodes, 1 GPU each
"""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parent / "site_examples"
SECONDS = 300  # for one example; a cluster needs 2

# What each task of an example runs: one line with its node and the number of GPUs that it sees.
PROGRAM = """import os

visible = [os.environ[name] for name in ("ROCR_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES") if os.environ.get(name)]
count = len(visible[0].split(",")) if visible else 0
os.write(1, f"task on {os.uname().nodename} sees {count}\\n".encode())
"""


def expectation(text):
    """The tasks, nodes and GPUs of each task (None: not checked) that a script must have."""
    found = re.search(r"^# Expected: (\d+) tasks? on (\d+) nodes?(?:, (\d+) GPUs? each)?$", text, re.M)
    if not found or not re.search(r"^# Source: \S.*, read \d{4}-\d\d-\d\d$", text, re.M):
        raise ValueError("it names no source with a date, or not what it starts")
    return tuple(None if number is None else int(number) for number in found.groups())


def run_example(binary, script):
    """Nothing if the example does what it documents, else why not."""
    tasks, nodes, gpus = expectation(script.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as directory:
        shutil.copy(script, Path(directory) / "job.sh")
        (Path(directory) / "train.py").write_text(PROGRAM, encoding="utf-8")
        (Path(directory) / "image.toml").write_text("", encoding="utf-8")
        command = [binary, "emulate", "--site", script.name.split(".")[0], "job.sh"]
        try:
            result = subprocess.run(command, cwd=directory, capture_output=True, text=True, timeout=SECONDS, check=False)
        except subprocess.TimeoutExpired:
            return f"no end after {SECONDS} s"
    lines = re.findall(r"task on (\S+) sees (\d+)", result.stdout)
    seen = sorted({int(count) for _, count in lines})
    got = f"exit {result.returncode}, {len(lines)} tasks on {len({host for host, _ in lines})} nodes, GPUs {seen}"
    right = result.returncode == 0 and len(lines) == tasks and len({host for host, _ in lines}) == nodes
    if right and gpus in (None, *seen) and (gpus is None or len(seen) == 1):
        return ""
    return f"{got}\n{result.stdout}{result.stderr}"


def main():
    binary, names = str(Path(sys.argv[1]).resolve()), sys.argv[2:]
    scripts = [
        path
        for path in sorted(EXAMPLES.glob("*.sh"))
        if not names or path.name.split(".")[0] in names or path.name[: -len(".sh")] in names
    ]
    failed = 0
    for script in scripts:
        why = run_example(binary, script)
        failed += bool(why)
        print(f"{script.name}: {'FAILED: ' + why if why else 'as documented'}", flush=True)
    sites = {script.name.split(".")[0] for script in scripts}
    print(f"{len(scripts) - failed} of {len(scripts)} examples of {len(sites)} sites run as documented")
    return 1 if failed or not scripts else 0


if __name__ == "__main__":
    sys.exit(main())
