# SPDX-License-Identifier: MIT
"""What tests/bench/run.sh measures, part by part: each says its rows by goals.note."""
import glob
import os
import re
import statistics
import subprocess
import sys
import time

import goals
import pairs

HERE = os.path.dirname(os.path.abspath(__file__))
REPO = os.path.dirname(os.path.dirname(HERE))
sys.path.append(os.path.dirname(HERE))
import test_data  # noqa: E402

SUBMITIT = """
import submitit.slurm.slurm as slurm
print(slurm._make_sbatch_string(command="python train.py", folder=".", partition="standard-g", nodes=2, gpus_per_node=8, ntasks_per_node=8,
                                time=10, account="project_1"))
"""
SIMPLE_SLURM = """
from simple_slurm import Slurm
job = Slurm(nodes=2, gpus_per_node=8, ntasks_per_node=8, time="00:10:00", account="project_1", partition="standard-g")
job.add_cmd("srun python train.py")
print(job)
"""
REFRAME_SITE = """
site_configuration = {
    "systems": [{"name": "site", "hostnames": [".*"], "partitions": [{"name": "gpu", "scheduler": "slurm", "launcher": "srun", "environs": ["one"],
                                                                      "access": ["-A project_1", "-p standard-g"]}]}],
    "environments": [{"name": "one"}]}
"""
REFRAME_TEST = """
import reframe as rfm

@rfm.simple_test
class train(rfm.RunOnlyRegressionTest):
    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    executable = "python"
    executable_opts = ["train.py"]
    num_tasks = 16
    num_tasks_per_node = 8
    time_limit = "10m"
"""


def write(directory, name, text):
    path = os.path.join(directory, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


class Bench:
    """Programs and places of a run."""

    def __init__(self, hpcml, peers, torch, ddp_step, directory, quick):
        self.hpcml, self.peers, self.torch, self.ddp_step, self.directory, self.quick = hpcml, peers, torch, ddp_step, directory, quick
        self.env = {**{name: value for name, value in os.environ.items() if not name.startswith(("SLURM", "HPCML_S", "HPCML_L"))},
                    "HOME": directory, "PYTHONDONTWRITEBYTECODE": ""}

    def pairs(self, many):
        return 3 if self.quick else many

    def compared(self, name, ours, peer, count, codes=(0,)):
        """A row: both commands in turns."""
        ratio, sides = pairs.compare(pairs.run_pairs(ours, peer, self.pairs(count), codes, env=self.env, cwd=self.directory))
        for who, command in (("ours", ours), ("peer", peer)):
            sides[who].update(pairs.count_calls(command, env=self.env, cwd=self.directory))
        print(f"{name}: {ratio:.3f} {goals.GOALS[name]['unit']}  {goals.note(name, ratio, pairs=self.pairs(count), **sides)}", flush=True)


def run_gen(bench):
    """The same job of two nodes, as each writes it; the peers know no site, so it is told them."""
    ours = [bench.hpcml, "gen", "--site", "lumi", "--partition", "standard-g", "--nodes", "2", "--gpus-per-node", "8", "--account", "project_1", "--time",
            "10", "--", "python", "train.py"]
    write(bench.directory, "train.py", "print(1)\n")
    write(bench.directory, "ref_site.py", REFRAME_SITE)
    write(bench.directory, "ref_test.py", REFRAME_TEST)
    python, program = os.path.join(bench.peers, "python"), lambda name: os.path.join(bench.peers, name)
    others = {
        "hpc-launcher": [program("launch"), "-N", "2", "-n", "8", "-q", "standard-g", "-t", "10", "--account", "project_1", "--scheduler", "slurm",
                         "--setup-only", "-l", ".", "-o", "launched.sh", "python", "train.py"],
        "submitit": [python, write(bench.directory, "by_submitit.py", SUBMITIT)],
        "reframe": [program("reframe"), "-C", "ref_site.py", "-c", "ref_test.py", "--dry-run", "--prefix", "reframe"],
        "simple_slurm": [python, write(bench.directory, "by_simple_slurm.py", SIMPLE_SLURM)],
        "torchx": [program("torchx"), "run", "--dryrun", "-s", "slurm", "-cfg", "partition=standard-g,time=10", "dist.ddp", "-j", "2x8", "--script", "train.py"],
    }
    for name, command in others.items():
        # ReFrame's dry run ends with 1, as nothing was there to judge; the script is written.
        bench.compared("gen/" + name, ours, command, 15, codes=(0, 1) if name == "reframe" else (0,))


def run_check(bench):
    """Scripts that sites' documents have. Both find something in some of them, which their exit codes say."""
    scripts = sorted(path for path in glob.glob(os.path.join(REPO, "tests/emulate/documents/*")) if path.endswith((".sh", ".sbatch")))
    ratios, sides = [], []
    for script in scripts:
        ratio, both = pairs.compare(pairs.run_pairs([bench.hpcml, "check", script], ["shellcheck", script], bench.pairs(7), (0, 1), env=bench.env))
        ratios.append(ratio)
        sides.append(both)
    name, ratio = "check/shellcheck", statistics.median(ratios)
    medians = {who: {key: round(statistics.median(one[who][key] for one in sides), 2) for key in sides[0][who]} for who in ("ours", "peer")}
    print(f"{name}: {ratio:.3f}, median of {len(scripts)} scripts, {min(ratios):.3f} to {max(ratios):.3f}  "
          f"{goals.note(name, ratio, pairs=bench.pairs(7) * len(scripts), **medians)}", flush=True)
    bench.compared("check/shellcheck-all", [bench.hpcml, "check", *scripts], ["shellcheck", *scripts], 7, (0, 1))


def run_affinity(bench):
    topology = test_data.unpack(os.path.join(REPO, "tests/affinity/topologies/eas-tioga.xml"), bench.directory)
    bench.compared("affinity/hwloc", [bench.hpcml, "affinity", "--topology", topology, "--format", "cpu-bind"],
                   ["hwloc-distrib", "--input", topology, "8"], 15)


def run_script(bench, words, **more):
    """Another benchmark of this folder, which notes its own rows. Its exit code is its goals', which are judged at the end."""
    done = subprocess.run(words, env={**os.environ, **more}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True, check=False)
    print(done.stdout, end="", flush=True)
    return done.stdout


def run_launch(bench):
    run_script(bench, [sys.executable, os.path.join(HERE, "agent.py"), bench.hpcml, os.path.join(bench.torch, "torchrun")])


def run_store(bench):
    text = run_script(bench, ["bash", os.path.join(HERE, "store.sh"), bench.hpcml, os.path.join(bench.torch, "python")])
    for clients, ours, peer in re.findall(r"(\d+) clients: ([\d.]+) us of processor an operation, torch ([\d.]+)", text):
        goals.note("store/" + clients, float(ours) / float(peer), ours={"us": float(ours)}, peer={"us": float(peer)}, pairs=3)


def run_emulate(bench):
    """Nobody beside it: no other tool brings a Slurm up like a site."""
    for nodes in (1, 4, 16, 64):
        up, down = [], []
        for _ in range(1 if bench.quick else 3):
            ended = os.path.join(bench.directory, "ended")
            done = pairs.run_well([bench.hpcml, "emulate", "--site", "lumi", "--nodes", str(nodes), "--", "sh", "-c", f"date +%s.%N > {ended}"],
                                  env=bench.env, cwd=bench.directory)
            gone = time.time()
            up.append(float(re.search(r"ready in ([\d.]+) s", done.text).group(1)))
            down.append(gone - float(open(ended, encoding="ascii").read()))
        print(f"emulate, {nodes} nodes: up {statistics.median(up):.2f} s {goals.note(f'emulate/up-{nodes}', statistics.median(up), ours={'s': statistics.median(up)}, pairs=len(up))}, "
              f"down {statistics.median(down):.2f} s", flush=True)
        if nodes == 64:
            goals.note("emulate/down-64", statistics.median(down), ours={"s": round(statistics.median(down), 3)}, pairs=len(down))


def run_ddp(bench):
    run_script(bench, [os.path.join(bench.torch, "python"), os.path.join(HERE, "ddp.py"), bench.ddp_step, "3" if bench.quick else "20"])


PARTS = {"gen": run_gen, "check": run_check, "affinity": run_affinity, "launch": run_launch, "store": run_store, "emulate": run_emulate, "ddp": run_ddp}
