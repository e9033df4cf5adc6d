#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Everything of hpcml that needs a GPU: checks.py HPCML PROGRAMS PAGE [CHECK...]   (tests/gpu/run.sh calls it)

PROGRAMS is a folder with ddp_rank and gpu_rank. Writes PAGE in Markdown, and beside it PAGE.json; what that file knows of checks that are
not asked for stays on the page, with its date. The exit code says whether all checks passed that were run.
"""
import datetime
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

sys.dont_write_bytecode = True  # nothing is left beside the sources
from world import World

HERE = os.path.dirname(os.path.abspath(__file__))
HPCML, PROGRAMS, PAGE = sys.argv[1:4]
ONLY = sys.argv[4:]
DDP_RANK, GPU_RANK = (os.path.join(PROGRAMS, name) for name in ("ddp_rank", "gpu_rank"))
RESULTS = {}  # of each check: its rows and figures
GPUS = 1


def row(name, right, text):
    print(f"{'ok    ' if right else 'FAILED'} {name}: {text}", flush=True)
    RESULTS["now"]["rows"].append([name, right, text])


def figure(text):
    print(f"       {text}", flush=True)
    RESULTS["now"]["figures"].append(text)


def tails(ends):
    """The ends of what ranks said; all of it goes to a file beside the page."""
    with open(PAGE + ".failed", "a", encoding="utf-8") as file:
        for rank, end in enumerate(ends):
            file.write(f"== rank {rank}, code {end['code']}, {end['seconds']:.1f} s\n{end['out']}\n{end['err']}\n")
    return " | ".join(f"rank {rank} ({end['code']}): {(end['out'][-300:] + ' ' + end['err'][-500:]).strip()}"
                      for rank, end in enumerate(ends))


def at_once(count, action, cases):
    """Some cases at a time: what they wait for is mostly each other's start."""
    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(action, cases))


def check_kinds():
    for ranks in (1, 2, 4):
        ends = World(ranks, GPUS, [GPU_RANK, "kinds"]).finish()
        right = all(end["code"] == 0 and end["said"] and end["said"][0]["backend"] == "nccl" for end in ends)
        row(f"sums, broadcasts, gathering and barrier, {ranks} ranks, fp32 to int64, on the GPU and on the CPU", right,
            "as reckoned" if right else tails(ends))


def check_ring():
    for ranks in (2, 3):
        ends = World(ranks, GPUS, [DDP_RANK, "exchange", "--ring"]).finish()
        right = all(end["code"] == 0 and end["said"] and end["said"][0]["right"] for end in ends)
        row(f"send and recv around a ring of {ranks}", right, "as reckoned" if right else tails(ends))


EQUAL = [(1, []), (2, []), (4, []), (3, ["--model", "shared", "--bucket-bytes", "500", "--static"]), (2, ["--model", "unused"]),
         (2, ["--samples", "weighted"]), (2, ["--accumulate", "3"]), (3, ["--join"]), (2, ["--clip", "0.5"]), (2, ["--copies"]),
         (1, ["--model", "split"]), (2, ["--model", "split", "--bucket-bytes", "400"]), (3, ["--model", "split", "--join"])]


def check_equal():
    runs = at_once(3, lambda case: World(case[0], GPUS, [DDP_RANK, "equal", *case[1]]).finish(), EQUAL)
    for (ranks, more), ends in zip(EQUAL, runs):
        worst = max((max(end["said"][0]["gradients"], end["said"][0]["weights"], end["said"][0]["norm"]) if end["said"] else 1e9
                     for end in ends))
        right = worst <= 1e-12 and all(end["code"] == 0 for end in ends)
        row(f"gradients and weights as of one process, fp64, {ranks} {'rank' if ranks == 1 else 'ranks'}{' '.join(['', *more])}", right,
            f"relative difference {worst:.1e}" if right else tails(ends))


def check_compare_with_python():
    done = subprocess.run([sys.executable, os.path.join(HERE, "..", "ddp", "compare_with_python.py"), DDP_RANK], capture_output=True,
                          text=True, check=False, timeout=300, env={**os.environ, "HPCML_RANK_GPUS": str(GPUS), "HPCML_BESIDE_AT_ONCE": "3"})
    for line in done.stdout.splitlines():
        name, _, result = line.rpartition(": ")
        if "ranks" in name:
            row(f"fp32 weights beside torch's own DistributedDataParallel: {name}", "the same bits" in result, result)
    if done.returncode != 0:
        row("fp32 weights beside torch's own DistributedDataParallel", False, done.stderr[-500:] or done.stdout[-500:])


TROUBLE = [("die", 1, "is lost"), ("die", 0, "is lost"), ("hang", 2, "busy elsewhere"), ("leave", 1, "has left"),
           ("throw", 1, "exception of its program"), ("unused", 1, "got no gradient"), ("absent", 1, "has not connected")]


def check_failures():
    runs = at_once(2, lambda case: World(3, GPUS, [DDP_RANK, "fail", "--how", case[0], "--bad", str(case[1]), "--timeout", "8"]).finish(45),
                   TROUBLE)
    for (how, bad, words), ends in zip(TROUBLE, runs):
        others = [end for rank, end in enumerate(ends) if rank != bad]
        reported = [end["said"][-1] if end["said"] else {} for end in others]
        right = all(end["code"] == 6 for end in others) and all(
            one.get("failed_ranks") == str(bad) and words in one.get("error", "") for one in reported)
        seconds = max(end["seconds"] for end in others)
        row(f"a rank of three does this: {how} (rank {bad}); the others name it", right,
            f"after {seconds:.1f} s in all: {reported[0].get('error', '')}" if right else tails(ends))


def check_resume():
    for optimizer in ("sgd", "adam"):
        for model in ("batchnorm", "split"):
            with tempfile.TemporaryDirectory() as whole, tempfile.TemporaryDirectory() as killed:
                words = ["--seed", "7", "--optimizer", optimizer, "--model", model]
                runs = [World(2, GPUS, [DDP_RANK, "resume", "--folder", whole, *words]).finish(),
                        World(2, GPUS, [DDP_RANK, "resume", "--folder", killed, *words, "--kill-at", "11"]).finish(),
                        World(2, GPUS, [DDP_RANK, "resume", "--folder", killed, *words]).finish()]
                resumed = [end["said"][0].get("resumed") if end["said"] else None for end in runs[2]]
                same = False
                if all(end["code"] == 0 for end in runs[0] + runs[2]):
                    same = all(open(f"{whole}/weights.{rank}", "rb").read() == open(f"{killed}/weights.{rank}", "rb").read()
                               for rank in (0, 1))
                right = same and resumed == [9, 9] and all(end["code"] not in (0, None) for end in runs[1])
                row(f"killed in step 11 and resumed: {optimizer}, {model}", right,
                    "the same bits as of a run that was not killed" if right else f"resumed {resumed} " + tails(runs[0] + runs[2]))


def check_tf32():
    for program in ([GPU_RANK, "tf32"], [sys.executable, os.path.join(HERE, "tf32.py")]):
        name = "C++" if program[0] == GPU_RANK else "Python"
        errors = {}
        for switch in ("on", "off"):
            done = subprocess.run([HPCML, "launch", "--nproc-per-node", "1", "--tf32", switch, "--", *program], capture_output=True, text=True,
                                  check=False, timeout=120)
            words = done.stdout.split()
            errors[switch] = float(words[-1]) if done.returncode == 0 and words else done.stderr[-300:]
        right = all(isinstance(value, float) for value in errors.values()) and errors["on"] > 1e-5 > errors["off"]
        row(f"--tf32 on and off, {name}", right, f"a product of fp32 matrices is wrong by {errors['on']} and {errors['off']}")


def check_tools():
    doctor = subprocess.run([HPCML, "doctor"], capture_output=True, text=True, check=False, timeout=60)
    row("hpcml doctor finds nothing wrong", doctor.returncode == 0, " ".join((doctor.stdout + doctor.stderr).split())[:600])
    hidden = subprocess.run([HPCML, "doctor"], capture_output=True, text=True, check=False, timeout=60,
                            env={**os.environ, "CUDA_VISIBLE_DEVICES": ""})
    row("hpcml doctor says why no GPU is seen where CUDA_VISIBLE_DEVICES is empty", hidden.returncode == 1,
        " ".join((hidden.stdout + hidden.stderr).split())[:600])
    begun = time.monotonic()
    preflight = subprocess.run([HPCML, "preflight", "--nproc-per-node", "1", "--backend", "nccl"], capture_output=True, text=True, check=False,
                               timeout=180)
    words = preflight.stdout + preflight.stderr
    row("hpcml preflight with NCCL, one rank", preflight.returncode == 0 and "nccl" in words and "running the preflight in" not in words,
        f"{time.monotonic() - begun:.1f} s: " + " ".join(words.split())[:900])
    with tempfile.TemporaryDirectory() as directory:
        ends = World(2, GPUS, [GPU_RANK, "kinds"], env={"NCCL_DEBUG": "INFO"}).finish()
        log = os.path.join(directory, "log")
        with open(log, "w", encoding="utf-8") as file:
            file.write("".join(end["out"] + end["err"] for end in ends))
        why = subprocess.run([HPCML, "why", log], capture_output=True, text=True, check=False, timeout=60)
        row("hpcml why reads NCCL's own log: sockets, of two ranks that share a GPU", "socket" in why.stdout.lower(),
            " ".join((why.stdout + why.stderr).split())[:900])


class Steps(World):
    def __init__(self, ranks, command):
        super().__init__(ranks, GPUS, command, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.step(1)
        self.first = time.monotonic() - self.start

    def step(self, count):
        for process in self.processes:
            process.stdin.write(f"{count}\n")
            process.stdin.flush()
        line = self.processes[0].stdout.readline()
        if not line:
            raise RuntimeError(f"{self.processes[0].args} ended with {self.processes[0].wait()}")
        return float(line)

    def end(self):
        for process in self.processes:
            process.stdin.close()
        for process in self.processes:
            process.wait(60)


def measure_steps():
    python = [sys.executable, "-W", "ignore", os.path.join(HERE, "steps.py")]
    for name, ranks, width, batch, layers, count in (("small", 1, 256, 32, 8, 200), ("large", 1, 4096, 2048, 8, 20),
                                                     ("small", 2, 256, 32, 8, 5), ("large", 2, 2048, 1024, 8, 1)):
        sizes = [str(width), str(batch), str(layers)]
        ours, theirs = Steps(ranks, [GPU_RANK, "steps", *sizes]), Steps(ranks, python + sizes)
        for one in (ours, theirs):
            one.step(count)
        pairs = []
        for turn in range(10):
            order = (ours, theirs) if turn % 2 == 0 else (theirs, ours)
            times = {one: one.step(count) for one in order}
            pairs.append((times[ours], times[theirs]))
        ours.end()
        theirs.end()
        ratio = statistics.median(a / b for a, b in pairs)
        figure(f"{name} model ({layers} layers of {width}, batch {batch}), {ranks} {'rank' if ranks == 1 else 'ranks that share the GPU'}: step "
               f"{statistics.median(a for a, _ in pairs):.3f} ms, torch's own in Python {statistics.median(b for _, b in pairs):.3f} ms, "
               f"ratio {ratio:.3f} (median of 10 pairs); start to the first step {ours.first:.2f} s and {theirs.first:.2f} s")


def measure_ahead():
    ends = World(2, GPUS, [GPU_RANK, "ahead"]).finish()
    right = all(end["code"] == 0 and end["said"][0]["begun_ms"] < end["said"][0]["done_ms"] / 2 for end in ends)
    reported = ends[0]["said"][0] if ends[0]["said"] else {}
    row("the program goes on while GPUs sum", right, f"ten sums of 64 MiB were begun and waited for in {reported['begun_ms']:.2f} ms, and done "
        f"after {reported['done_ms']:.2f} ms (two ranks)" if right else tails(ends))


def facts():
    import torch

    global GPUS
    GPUS = torch.cuda.device_count()
    smi = shutil.which("nvidia-smi")
    driver = subprocess.run([smi, "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader"], capture_output=True, text=True,
                            check=False).stdout.strip().splitlines()[0] if smi else "no nvidia-smi"
    version = subprocess.run([HPCML, "--version"], capture_output=True, text=True, check=False).stdout.split("\n")[0]
    nccl = ".".join(str(part) for part in torch.cuda.nccl.version())
    return [f"{datetime.date.today()}", f"{GPUS} × {driver}", f"torch {torch.__version__}, CUDA {torch.version.cuda}, NCCL {nccl}",
            f"{platform.system()} {platform.release()}, Python {platform.python_version()}, {os.cpu_count()} CPUs", version]


def write_page():
    with open(PAGE + ".json", "w", encoding="utf-8") as file:
        json.dump(RESULTS, file, indent=1)
    parts = [RESULTS[name] for name in PARTS if name in RESULTS]
    rows = [entry for part in parts for entry in part["rows"]]
    abouts = list(dict.fromkeys(tuple(part["about"]) for part in parts))
    lines = ["# On a GPU", "",
             "What `tests/gpu/run.sh` measured and checked, written by it. It builds the helper and `hpcml::ddp` with `hpcml torch build`, on a machine",
             "that has torch, a compiler, CMake, ninja and a GPU, and needs no network.", ""]
    lines += [f"- {fact}" for about in abouts for fact in about]
    lines += ["", "NCCL refuses two ranks on one GPU of one machine. With fewer GPUs than ranks each rank says that it is a machine of its own",
              "(`NCCL_HOSTID`), so they share the GPU in turns and speak by sockets: all is as between nodes, but for the speed.", "",
              f"{sum(right for _, right, _ in rows)} of {len(rows)} checks passed.", "", "## Figures", ""]
    lines += [f"- {text}" for part in parts for text in part["figures"]]
    lines += ["", "## Checks", "", "| check | passed | what was seen |", "| --- | --- | --- |"]
    for name, right, text in rows:
        cell = " ".join(text.split()).replace("|", "\\|")
        lines.append(f"| {name} | {'yes' if right else '**no**'} | {cell} |")
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


PARTS = {part.__name__: part for part in (check_tools, check_kinds, check_equal, check_ring, check_compare_with_python, check_failures, check_resume,
                                          check_tf32, measure_ahead, measure_steps)}


def main():
    about = facts()
    print("\n".join(about), flush=True)
    if ONLY and os.path.exists(PAGE + ".json"):
        with open(PAGE + ".json", encoding="utf-8") as file:
            RESULTS.update(json.load(file))
    failed = []
    for name in ONLY or PARTS:
        part = PARTS[name]
        RESULTS[name] = RESULTS["now"] = {"about": about, "rows": [], "figures": []}
        begun = time.monotonic()
        try:
            part()
        except Exception as error:  # the others are to be tried all the same
            row(name, False, f"{type(error).__name__}: {error}")
        del RESULTS["now"]
        print(f"       {name}: {time.monotonic() - begun:.0f} s", flush=True)
        failed += [entry[0] for entry in RESULTS[name]["rows"] if not entry[1]]
        write_page()
    write_page()
    print("all passed" if not failed else f"{len(failed)} failed: {', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
