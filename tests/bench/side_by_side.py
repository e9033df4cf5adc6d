#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the parts that run.sh asks for, prints the table, writes JSON, plot and page; exit code 1 where a goal is missed or a part failed."""
import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
import traceback

import parts
import report


def first_line(words):
    try:
        return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True, check=False).stdout.strip().splitlines()[0]
    except (OSError, IndexError):
        return "not here"


def version_in(python, package):
    return first_line([python, "-c", f"import importlib.metadata; print(importlib.metadata.version('{package}'))"])


def describe_machine():
    model, memory = platform.machine(), 0
    for line in open("/proc/cpuinfo", encoding="ascii", errors="replace"):
        if line.startswith("model name"):
            model = line.split(":", 1)[1].strip()
            break
    for line in open("/proc/meminfo", encoding="ascii"):
        if line.startswith("MemTotal:"):
            memory = round(int(line.split()[1]) / 1024 / 1024)
    system = "Linux"
    if os.path.exists("/etc/os-release"):
        system = next((line.split("=", 1)[1].strip().strip('"') for line in open("/etc/os-release", encoding="utf-8") if line.startswith("PRETTY_NAME=")), system)
    return f"{model}, {os.cpu_count()} processors, {memory} GB of memory, {system}, Linux {platform.release().split('-')[0]}"


def load():
    return " ".join(f"{value:.1f}" for value in os.getloadavg())


def about_run(bench):
    peers, torch = os.path.join(bench.peers, "python"), os.path.join(bench.torch, "python")
    versions = {name: version_in(peers, package) for name, package in (("hpc-launcher", "hpc-launcher"), ("submitit", "submitit"), ("ReFrame", "reframe-hpc"),
                                                                       ("simple_slurm", "simple_slurm"), ("TorchX", "torchx"))}
    versions["torch (torchrun, DistributedDataParallel, store)"] = version_in(torch, "torch")
    versions["shellcheck"] = first_line(["sh", "-c", "shellcheck --version | sed -n 's/^version: //p'"])
    versions["hwloc"] = first_line(["sh", "-c", "hwloc-distrib --version | sed 's/.* //'"])
    versions["Slurm (emulate)"] = first_line(["sh", "-c", "slurmctld -V | sed 's/.* //'"])
    commit = first_line(["git", "-C", parts.REPO, "rev-parse", "--short", "HEAD"])
    return {"date": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()), "commit": commit, "machine": describe_machine(), "load_before": load(), "versions": versions}


def read_words():
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("--hpcml", required=True)
    reader.add_argument("--peers", required=True, help="the bin folder of the Python environment with the peers")
    reader.add_argument("--torch", required=True, help="the bin folder of the one with torch")
    reader.add_argument("--ddp-step", required=True)
    reader.add_argument("--out", required=True, help="folder for results.json, benchmarks.svg and benchmarks.md")
    reader.add_argument("--quick", action="store_true", help="few pairs: to see that everything runs")
    reader.add_argument("parts", nargs="*", help=f"of {' '.join(parts.PARTS)}; all without")
    words = reader.parse_args()
    if strange := [name for name in words.parts if name not in parts.PARTS]:
        reader.error(f"there is no part {strange[0]}; parts: {' '.join(parts.PARTS)}")
    return words


def main():
    words = read_words()
    failed = []
    with tempfile.TemporaryDirectory() as directory:
        os.environ["HPCML_BENCH_ROWS"] = place = os.path.join(directory, "rows")
        bench = parts.Bench(os.path.abspath(words.hpcml), os.path.abspath(words.peers), os.path.abspath(words.torch), os.path.abspath(words.ddp_step), directory,
                            words.quick)
        about = about_run(bench)
        for name in words.parts or parts.PARTS:
            print(f"== {name} (load {load()})", flush=True)
            try:
                parts.PARTS[name](bench)
            except (Exception, SystemExit):  # the others are run all the same
                traceback.print_exc()
                failed.append(name)
        about["load_after"] = load()
        rows = [json.loads(line) for line in open(place, encoding="utf-8")] if os.path.exists(place) else []
    rows = report.complete(rows)
    os.makedirs(words.out, exist_ok=True)
    for name, text in (("results.json", report.as_json(rows, about)), ("benchmarks.svg", report.plot(rows)), ("benchmarks.md", report.page(rows, about))):
        with open(os.path.join(words.out, name), "w", encoding="utf-8") as file:
            file.write(text)
    missed = [row["id"] for row in rows if not row["met"]]
    print(report.table(rows))
    print(f"{len(rows)} rows, missed: {', '.join(missed) or 'none'}" + (f"; parts that failed: {', '.join(failed)}" if failed else "") + f"; {words.out}")
    return 1 if missed or failed or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
