#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs that others wrote for torchrun, under torch's own torchrun and under `hpcml torchrun` with the same line: do both end alike,
and does each rank write the same?

    programs.py HPCML PYTHON SOURCES [NAME]     SOURCES/OWNER/REPOSITORY[@COMMIT] holds what a person has fetched; NAME: those with it
                                                in their path; PYTHON has torch, and what a program lacks is said

The ranks' output is read from the files of -r 3 --log-dir, which are part of each line; what differs from run to run (numbers of
processes, ports, paths, this machine's name for itself) is left out of the comparison.
"""
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile

from programs_table import PROGRAMS

LIMIT = 120


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


def essence(text, scratch, varies):
    """`text` without what differs from run to run."""
    text = text.replace(scratch, "SCRATCH")
    for pattern in [*varies, r"MASTER_ADDR\W+(localhost|127\.0\.0\.1)", r"SCRATCH/\S*", r"/tmp/\S*", r"[0-9a-f]{8}-[0-9a-f-]{27}", r"\b\d{4,}\b", r"0x[0-9a-f]+"]:
        text = re.sub(pattern, "*", text)
    return sorted(line.rstrip() for line in text.splitlines() if line.strip())


def logs(directory):
    """What each rank of each attempt wrote: {"attempt/rank": (output, errors)}. A node of torchrun's has a folder of its own."""
    found = {}
    for path, _, names in sorted(os.walk(directory)):
        rank, attempt = os.path.basename(path), os.path.basename(os.path.dirname(path))
        if attempt.startswith("attempt_") and rank.isdigit():
            texts = [open(os.path.join(path, name), errors="replace").read() if name in names else "" for name in ("stdout.log", "stderr.log")]
            found.setdefault(attempt, []).append(tuple(texts))
    return found


def run(words, program, python, root):
    """Exit codes of the agents, the logs of their ranks, the files that the program left, and what the agents said."""
    with tempfile.TemporaryDirectory() as scratch:
        fill = {"scratch": scratch, "root": root, "port": free_port(), "python": python}
        os.mkdir(os.path.join(scratch, "cwd"))
        os.mkdir(os.path.join(scratch, "left"))
        env = {name: value for name, value in os.environ.items()
               if not name.startswith(("TORCHELASTIC_", "MASTER_", "SLURM_", "PET_", "HPCML_")) and name not in ("RANK", "WORLD_SIZE")}
        env.update({"OMP_NUM_THREADS": "1", "PYTHON_EXEC": python, "PYTHONWARNINGS": "ignore", "PYTHONPATH": root, "TQDM_DISABLE": "1",
                    "LOGNAME": "somebody", "PYTHONDONTWRITEBYTECODE": "1", **program.get("env", {})})
        end = [word.format(**fill) for word in program.get("words", [])]
        start = os.path.join(root, program["path"])
        agents = []
        for number in range(program.get("agents", 1)):
            line = [*words, *(flag.format(**fill, agent=number) for flag in program["flags"]),
                    "-r", "3", "--log-dir", os.path.join(scratch, "logs", str(number)), start, *end]
            agents.append(subprocess.Popen(line, env=env, cwd=os.path.join(scratch, "cwd"), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                           text=True, start_new_session=True))
        codes, reported = [], ""
        for agent in agents:
            try:
                reported += agent.communicate(timeout=LIMIT)[0]
            except subprocess.TimeoutExpired:
                agent.terminate()  # it ends its ranks, which have sessions of their own
                try:
                    reported += agent.communicate(timeout=60)[0]
                except subprocess.TimeoutExpired:
                    os.killpg(agent.pid, signal.SIGKILL)
                    reported += agent.communicate()[0]
                reported += "\nit did not end"
            codes.append(agent.returncode)
        ranks = logs(os.path.join(scratch, "logs"))
        varies = program.get("varies", [])
        written = {attempt: sorted(essence(out, scratch, varies) for out, _ in texts) for attempt, texts in ranks.items()}
        raw = "\n".join(out + errors for texts in ranks.values() for out, errors in texts)
        left = sorted(os.listdir(os.path.join(scratch, "left")))
        return {"codes": codes, "written": written, "left": left, "raw": raw, "said": reported}


def run_unaborted(words, program, python, root):
    """With torch 2.13 a thread of Gloo now and then aborts a program that has done its work, under any launcher: such a run tells
    nothing and is done again, which is said."""
    for _ in range(10):
        done = run(words, program, python, root)
        if "terminate called without an active exception" not in done["raw"]:
            break
        print(f"again: a rank aborted as it ended, under {'torchrun' if words[0] == python else 'hpcml'}", flush=True)
    return done


def faults(program, torch, ours):
    """What is not as under torchrun, or as the table says."""
    found = []
    wanted = program.get("code", 0)
    if any(code != (1 if wanted else 0) for code in torch["codes"]):
        found.append(f"torchrun itself ended with {torch['codes']}")
    if any(code != wanted for code in ours["codes"]):
        found.append(f"ended with {ours['codes']}, not {wanted}")
    for name, done in (("torchrun", torch), ("hpcml", ours)):
        times = len(re.findall(program["shows"], done["raw"])) if "shows" in program else program.get("times", 1)
        if times < program.get("times", 1):
            found.append(f"{program['shows']!r} is there {times} times under {name}, not {program.get('times', 1)}")
    if torch["left"] != ours["left"]:
        found.append(f"it left {ours['left']}, not {torch['left']}")
    if not wanted and torch["written"] != ours["written"]:
        found.append("its ranks wrote otherwise")
    return found


def lacks(program, python):
    for module in program.get("needs", []):
        if subprocess.run([python, "-c", f"import {module}"], stderr=subprocess.DEVNULL, check=False).returncode != 0:
            return module
    return None


def main():
    hpcml, sources = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[3])
    python = os.path.join(os.path.abspath(os.path.dirname(sys.argv[2])), os.path.basename(sys.argv[2]))
    same, run_lines, paths = 0, 0, set()
    for program in PROGRAMS:
        name = f"{program['repository']}/{program['path']}"
        if len(sys.argv) > 4 and sys.argv[4] not in name:
            continue
        root = os.path.join(sources, program["repository"])
        line = " ".join([*program["flags"], program["path"], *program.get("words", [])])
        missing = lacks(program, python)
        if missing or not os.path.exists(os.path.join(root, program["path"])):
            print(f"left out  {name}: {'no module ' + missing if missing else 'not in SOURCES'}", flush=True)
            continue
        launch = program.get("launch")
        torch = run_unaborted([python, "-m", "torch.distributed.launch" if launch else "torch.distributed.run"], program, python, root)
        ours = run_unaborted([hpcml, "torchrun", *(["--pass-local-rank"] if launch is True else [])], program, python, root)
        wrong = faults(program, torch, ours)
        run_lines += 1
        same += not wrong
        paths |= set() if wrong else {name}
        print(f"{'DIFFERENT' if wrong else 'same     '} {program['repository']}: {line}{': ' + '; '.join(wrong) if wrong else ''}", flush=True)
        if wrong:
            for who, done in (("torchrun", torch), ("hpcml", ours)):
                print(f"--- {who}\n{done['said'][-3000:]}\n{done['raw'][-3000:]}\n{done['written']}"[-6000:])
    print(f"{same} of {run_lines} lines as under torchrun, {len(paths)} programs")
    sys.exit(0 if run_lines and same == run_lines else 1)


main()
