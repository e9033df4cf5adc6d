#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The programs of docs/examples that come from the documents, as jobs on the emulated site that each document is about.

    on_sites.py HPCML PYTHON [NAME…]      PYTHON: one with torch; where it has no mpi4py, Vista's ranks come from hpcml alone
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

HPCML, PYTHON = os.path.abspath(sys.argv[1]), sys.argv[2]
EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "examples")
ENV = dict(os.environ, PATH=os.path.dirname(HPCML) + ":" + os.path.dirname(PYTHON) + ":/usr/local/bin:/usr/sbin:/usr/bin:/bin", PYTHONWARNINGS="ignore", CUDA_VISIBLE_DEVICES="")


def has(module):
    return subprocess.run([PYTHON, "-c", "import " + module], stderr=subprocess.DEVNULL, check=False).returncode == 0


class Site:
    """A folder with the examples, and an emulated cluster that runs jobs in it."""

    def __init__(self, name, nodes, *more):
        self.directory = tempfile.mkdtemp(prefix="documents-")
        shutil.copytree(EXAMPLES, self.directory, dirs_exist_ok=True)
        self.name, self.flags = name, ["--site", name, "--nodes", str(nodes), *more, "--quiet"]
        self.jobs = []

    def job(self, name, flags, program, *words, python=PYTHON):
        """A job as `hpcml gen` writes it."""
        line = [HPCML, "gen", "--site", self.name, "--time", "10", *flags, "-o", name + ".sh", "--", python, program, *words]
        subprocess.run(line, env=ENV, cwd=self.directory, check=True)
        self.jobs.append(name)

    def script(self, name, text):
        with open(os.path.join(self.directory, name + ".sh"), "w", encoding="utf-8") as file:
            file.write(text)
        self.jobs.append(name)

    def run(self):
        """What each job wrote; one that failed says so at its end."""
        script = "".join(f"sbatch -W -o {name}.out {name}.sh >/dev/null || echo 'the job failed' >>{name}.out\n" for name in self.jobs)
        done = subprocess.run([HPCML, "emulate", *self.flags, "--", "bash", "-c", script], env=ENV, cwd=self.directory,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=1800, check=False)
        reported = {}
        for name in self.jobs:
            path = os.path.join(self.directory, name + ".out")
            reported[name] = open(path, encoding="utf-8", errors="replace").read() if os.path.exists(path) else done.stdout
        shutil.rmtree(self.directory, ignore_errors=True)
        return reported


def expect(what, reported, patterns):
    faults = ["the job failed"] if "the job failed" in reported else []
    faults += [f"nothing like {pattern!r}" for pattern in patterns if not re.search(pattern, reported)]
    print(f"{what}: {'; '.join(faults) or 'as it should be'}", flush=True)
    if faults:
        print(reported)
    return not faults


def check_alliance():
    site = Site("narval", 1)
    one = ["--account", "def-me", "--nodes", "1", "--tasks-per-node", "1"]
    site.job("cpus", [*one, "--cpus-per-task", "4", "--mem", "8G"], "alliance/images.py")
    site.job("gpu", [*one, "--gpus-per-node", "1", "--cpus-per-task", "2", "--mem", "8G", "--tf32", "on"], "alliance/images.py",
             "--batch-size", "128", "--num-workers", "2")
    site.job("first", [*one, "--gpus-per-node", "1", "--mem", "8G"], "alliance/first_tensors.py")
    if PYTHON != "/usr/bin/python3":  # the emulated wheelhouse takes pip's packages from PATH's Python; Debian's is none of them
        site.job("venv", [*one, "--cpus-per-task", "2", "--mem", "8G", "--wheelhouse", "torch"], "alliance/images.py", python="python")
    reported = site.run()
    venv = expect("Alliance, a virtualenv on the node's own disk", reported["venv"], ["cpu, 2 threads, 0 loaders"]) if "venv" in reported else True
    return all([venv, expect("Alliance, several CPUs: intra-op threads are the task's cores", reported["cpus"],
                       ["cpu, 4 threads, 0 loaders", r"loss 2\.\d+ at first, [01]\.\d+ at last"]),
                expect("Alliance, one GPU's job, here on its CPUs", reported["gpu"], ["2 threads, 2 loaders, TF32 for products on"]),
                expect("Alliance, the first job", reported["first"], ["torch .* on cpu", r"sum tensor"])])


def check_libtorch():
    directory = tempfile.mkdtemp(prefix="documents-")
    shutil.copytree(os.path.join(EXAMPLES, "alliance", "libtorch"), directory, dirs_exist_ok=True)
    package = subprocess.run([PYTHON, "-c", "import os, torch; print(os.path.dirname(torch.__file__))"], stdout=subprocess.PIPE,
                             text=True, check=True).stdout.strip()
    built = subprocess.run(["bash", "-c", f"cmake -B build -S . -DCMAKE_PREFIX_PATH={package} && cmake --build build && build/example && "
                            f"{HPCML} launch --nproc-per-node 1 --tf32 on -- build/example"],
                           cwd=directory, env=ENV, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    shutil.rmtree(directory, ignore_errors=True)
    return expect("Alliance, the LibTorch example is built as its page says", built.stdout + ("" if built.returncode == 0 else "the job failed"),
                  [r"LibTorch \d\.\d+ on cpu, TF32 for products off", r"CPUFloatType\{2,3\}", r"\[0\] LibTorch \d\.\d+ on cpu, TF32 for products on"])


def check_servers():
    site = Site("zurada", 1, "--partition", "gpu2h100")
    two = ["--partition", "gpu2h100", "--nodes", "1", "--gpus-per-node", "2", "--mem", "8G"]
    for form in ("basic", "checkpoint", "model-parallel"):
        site.job(form, two, "servers/ddp_demo.py", form)
    site.job("elastic", [*two, "--max-restarts", "1"], "servers/elastic.py", "--kill-at", "4")
    reported = site.run()
    good = [expect(f"server notes, {form}", reported[form], [rf"rank {rank} of 2, {form} on cpu.*ranks agree" for rank in (0, 1)])
            for form in ("basic", "checkpoint", "model-parallel")]
    return all(good) and expect("server notes, elastic: killed and resumed", reported["elastic"],
                                ["start 0: 2 ranks, from step 0", "rank 1/.*was killed by SIGKILL", "start 1: 2 ranks, from step [34]", "ends at step 6"])


def check_lumi():
    site = Site("lumi", 2, "--partition", "small-g")
    site.job("digits", ["--account", "project_1", "--partition", "small-g", "--nodes", "2", "--gpus-per-node", "2"], "lumi/digits_ddp.py",
             "--modelpath", "model")
    reported = site.run()
    return expect("LUMI, digits over two nodes", reported["digits"], [r"epoch 1: 4 ranks, [4-9]\d\.\d % right", "saved model/digits.pt"])


def check_vista():
    site = Site("vista", 2, "--partition", "gh-dev")
    flags = ["--partition", "gh-dev", "--nodes", "2"]
    site.job("own", flags, "vista/send_receive.py")
    if has("mpi4py"):
        head = "#!/bin/bash\n#SBATCH --partition=gh-dev --nodes=2 --ntasks-per-node=1 --time=10\n"
        site.script("ibrun", head + f"ibrun -np 2 {PYTHON} vista/send_receive.py\n")
    else:
        print("Vista, ranks from MPI: not tried, this Python has no mpi4py")
    return all([expect(f"Vista, send and receive, started by {name}", reported,
                       [r"rank 0 on c\S+ sent 1000000 numbers to 1 ranks by gloo", r"rank 1 on c\S+ got what was sent"])
                for name, reported in site.run().items()])


def check_zurada():
    site = Site("zurada", 1, "--partition", "gpu2h100")
    site.job("train", ["--partition", "gpu2h100", "--nodes", "1", "--gpus-per-node", "2", "--mem", "8G"], "zurada/train.py")
    site.script("doctor", "#!/bin/bash\n#SBATCH --partition=gpu2h100 --nodes=1 --ntasks=1 --gpus-per-node=1 --mem=1G --time=5\n"
                f"srun {PYTHON} zurada/gpu_check.py || srun {HPCML} doctor -- {PYTHON} zurada/gpu_check.py || true\n")
    reported = site.run()
    return all([expect("Zurada, its training", reported["train"], [r"epoch 4: loss \d\.\d+ over 1000 samples of 2 ranks"]),
                expect("Zurada, where no GPU is seen the doctor says why", reported["doctor"],
                       ["GPUs: 0", "GPUs: none visible to torch", r"\[hidden-by-variable\]|\[torch-without-gpus\]"])])


CHECKS = {"alliance": check_alliance, "libtorch": check_libtorch, "servers": check_servers, "lumi": check_lumi, "vista": check_vista,
          "zurada": check_zurada}
chosen = sys.argv[3:] or list(CHECKS)
results = {name: CHECKS[name]() for name in chosen}
print(f"{sum(results.values())} of {len(results)} documents' programs run on their sites")
sys.exit(0 if all(results.values()) else 1)
