#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Imports held-out scripts to five sites, runs the results on the emulated sites, and compares them with intents.json.

    run.py SCRIPTS [--hpcml PATH] [--only ID,ID] [--sites NAME,NAME] [--workers N] [--results FILE]
    run.py --table RESULTS        prints docs/development/import-trials.md

SCRIPTS is a directory with NN.sh for each id of intents.json, which names repository, commit and path of each. Runs as root:
absolute paths that a script reads are created, and removed at the end with those that its job creates.
"""
import argparse
import concurrent.futures
import getpass
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "..")]
import compare  # noqa: E402
import table  # noqa: E402
import test_data  # noqa: E402

# What a user of each site knows: account, and partitions for CPU jobs where the site has no default.
SITES = {
    "lumi": {"options": ["--account", "project_465000001"]},
    "leonardo": {"options": ["--account", "EUHPC_D01_001"]},
    "vista": {"options": ["--account", "ABC24001"], "cpu": ["--partition", "gg"], "gpus_without_request": 1},
    "zurada": {"options": [], "cpu": ["--partition", "cpu384g"], "no_engine": True},
    "narval": {"options": ["--account", "def-me"]},
}
NEW_IMAGE = ("01", "11", "18", "34", "49", "86", "135", "168", "275", "282", "287", "299", "325", "337", "360")  # images of a wrapper, a registry or a sourced file: the user names a copy of the image
TIMEOUT = 240

PROBE = r'''#!/usr/bin/python3 -SE
import json, os, re, subprocess, sys, time
NAME, ARGS = os.path.basename(sys.argv[1]), sys.argv[2:]

def launch_accelerate():  # as accelerate does: ranks of this node, with the settings of options and configuration as variables
    words, options = ARGS[1:], {}
    while words and words[0].startswith("-"):
        name, _, value = words.pop(0).lstrip("-").partition("=")
        name = name.replace("-", "_")
        flag = name in ("multi_gpu", "use_fsdp", "use_deepspeed", "m", "module", "no_python", "debug")
        options[name] = value or ("1" if flag else words.pop(0))
    variables, section = dict(os.environ), ""
    lines = open(options["config_file"]).read().splitlines() if "config_file" in options else []
    for line in lines:
        name, _, value = line.strip().partition(":")
        value = value.strip(" '")
        section = section if line.startswith(" ") else name
        if section == "fsdp_config" and value:
            variables[name.upper()] = value
        elif not line.startswith(" "):
            options.setdefault(name, value)
    kind, machines = options.get("distributed_type", ""), int(options.get("num_machines", 1))
    variables["ACCELERATE_MIXED_PRECISION"] = options.get("mixed_precision", "no")
    variables.update({"ACCELERATE_USE_" + x: "true" for x in ("FSDP", "DEEPSPEED") if x == kind or "use_" + x.lower() in options})
    words = ["-m"] * ("m" in options or "module" in options) + words
    here, count = int(options.get("machine_rank", 0)), int(options.get("num_processes", 1)) // machines
    ranks = []
    for local in range(count):
        variables.update(RANK=str(here * count + local), LOCAL_RANK=str(local), WORLD_SIZE=str(count * machines), LOCAL_WORLD_SIZE=str(count))
        ranks.append(subprocess.Popen(words if "no_python" in options else [sys.argv[0], "python"] + words, env=variables))
    sys.exit(max(rank.wait() for rank in ranks))

if NAME in ("python", "python3"):
    plain = ARGS[next((i for i, a in enumerate(ARGS) if a not in ("-u", "-E", "-s")), len(ARGS)):]
    if plain[:1] in (["-c"], ["-"], []) or plain[:2] in (["-m", "venv"], ["-m", "pip"]):
        if "torch.cuda.device_count" in " ".join(plain):
            print(len([g for g in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if g]))
            sys.exit(0)
        os.execv("/usr/bin/python3", ["/usr/bin/python3"] + ARGS)
    if plain[:2] in (["-m", "torch.distributed.run"], ["-m", "torch.distributed.launch"]):
        os.execv("@STUBS@/torchrun", ["torchrun"] + plain[2:])
    ARGS = plain
if NAME == "accelerate":
    launch_accelerate()
record = {"program": NAME, "arguments": ARGS, "environment": dict(os.environ), "node": os.environ.get("SLURMD_NODENAME", os.uname().nodename),
          "directory": os.getcwd(), "files": [f for f in @FILES@ if os.path.exists(f)]}
path = "@RECORDS@/%d-%d-%s" % (time.time_ns(), os.getpid(), record["node"])
with open(path + ".tmp", "w") as file:
    json.dump(record, file)
os.rename(path + ".tmp", path + ".json")
if NAME == "nvidia-smi" and "--query-gpu=memory.free" in ARGS:
    print("40000")  # of the one GPU that its job has
time.sleep(60 if NAME == "nvidia-smi" and "-l" in ARGS else 0)
'''


def read_intents():
    """Returns the entries of intents.json."""
    return json.loads(test_data.read(os.path.join(HERE, "intents.json")))["scripts"]


def write(path, text, mode=0o644):
    """Writes a file, with its directories."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, mode)


def find_absolute_paths(text):
    """Returns the absolute paths that a script names, which its job may create."""
    return sorted(set(re.findall(r"(?<![\w/$.:~`})\]>*+-])/[\w.+-]+(?:/[\w.+-]+)*", text)))


def hide_machine(text, places, user):
    """Returns text with the names of `places` for their paths, without sandboxes, and with USER for the user."""
    for path, name in places.items():
        text = text.replace(path, name)
    text = re.sub(r"/tmp/hpcml-sandbox-\w+", "", text)
    return re.sub(rf"/{re.escape(user)}(?=[/'\" ]|$)", "/USER", text)


class AbsoluteFiles:
    """Files outside the working directory, which scripts expect; removes what it and the jobs created.

    `named`: paths that the jobs may create.
    """

    def __init__(self, texts, named=()):
        self.absent = sorted({part for part in map(self.find_absent, [*texts, *named]) if part})
        for path, text in sorted(texts.items()):
            if not os.path.exists(path):
                write(path, text, 0o755)

    @staticmethod
    def find_absent(path):
        """Returns the first part of a path that does not exist; none if the whole path exists."""
        parts = os.path.normpath(path).split("/")
        paths = ("/".join(parts[:count]) for count in range(2, len(parts) + 1))
        return next((part for part in paths if not os.path.lexists(part)), "")

    def remove(self):
        for path in self.absent:
            if os.path.isdir(path) and not os.path.islink(path):
                shutil.rmtree(path)
            elif os.path.lexists(path):
                os.unlink(path)


def read_absolute_paths(directory, intents):
    """Returns the absolute paths that the scripts name."""
    named = set()
    for entry in intents:
        with open(os.path.join(directory, entry["id"] + ".sh"), encoding="utf-8", errors="surrogateescape") as file:
            named.update(find_absolute_paths(file.read()))
    return named


class Trial:
    """One script, imported to one site."""

    def __init__(self, entry, site, scripts, hpcml, top):
        self.entry, self.site, self.hpcml = entry, site, hpcml
        self.top = os.path.join(top, f"{entry['id']}-{site}")
        self.directory = os.path.join(self.top, "job")
        with open(os.path.join(scripts, entry["id"] + ".sh"), encoding="utf-8", errors="surrogateescape") as file:
            self.text = file.read()
        for old, new in entry.get("scaled", []):
            if old not in self.text:
                raise ValueError(f"{entry['id']}: {old!r} is not in the script")
            self.text = self.text.replace(old, new)
        lines = self.text.split("\n")
        lines[1:1] = ["#SBATCH " + option for option in entry.get("directives", [])]
        self.text = "\n".join(lines)

    def fill(self, text):
        return text.replace("{W}", self.directory)

    def options(self):
        """The options of gen that a user adds: account, time, software, and the partition of CPU jobs."""
        site, intent = SITES[self.site], self.entry["intent"]
        options = list(site["options"])
        if not re.search(r"^#SBATCH.*\s(--time|-t)\b", self.text, re.M):
            options += ["--time", "30"]
        if "image" not in intent or site.get("no_engine"):
            options += ["--venv", self.directory + "/venv"]
        elif self.entry["id"] in NEW_IMAGE:
            options += ["--container", self.directory + "/new_image.sif"]
        if all(launch["gpus_per_rank"] == 0 for launch in intent.get("launches", [{"gpus_per_rank": 1}])):
            options += site.get("cpu", [])
        return options

    def least_time(self):
        """Returns the time limit that a user adds: the minutes of --time-min if the script has it."""
        found = re.search(r"^#SBATCH --time-min=(\d+)", self.text, re.M)
        return found[1] if found else "30"

    def prepare(self):
        """Writes script, files and stand-ins for the programs."""
        shutil.rmtree(self.top, ignore_errors=True)
        stubs, records = self.top + "/stubs", self.top + "/records"
        os.makedirs(records)
        os.chmod(records, 0o777)
        write(self.directory + "/script.sh", self.text)
        write(self.directory + "/new_image.sif", "image\n")
        staging = [path for path in self.entry["intent"].get("staging", []) if path.startswith("/")]
        probe = PROBE.replace("@STUBS@", stubs).replace("@RECORDS@", records).replace("@FILES@", repr(staging))
        write(self.top + "/probe.py", probe, 0o755)
        for path in re.findall(r"^#SBATCH\s+(?:--output|--error|-o|-e)[= ]+(\S+)/", self.text, re.M):
            if "%" not in path and not path.startswith("/"):
                os.makedirs(os.path.join(self.directory, path), exist_ok=True)
        for image in re.findall(r"(\.\./\S+\.(?:sif|sqsh)|\.\./resources/deepspeed\w+)", self.text):
            path = os.path.normpath(os.path.join(self.directory, image))
            write(path if image.endswith("sif") else path + "/lib/python3.12/site-packages/deepspeed/ops/csrc/adam/x", "image\n")
            if image.endswith("sqsh"):  # what the image contains: the emulated engine mounts directories
                write(path + "/lib/python3.12/site-packages/deepspeed/ops/csrc/includes/x", "file\n")
        image = self.entry["intent"].get("image", "")
        if image.endswith(".sif") and not image.startswith("/"):
            write(os.path.normpath(os.path.join(self.directory, image)), "image\n")
        names = ["python", "python3", "nvidia-smi", "rocm-smi", "dcgmi", "horovodrun", "accelerate", "deepspeed", *self.entry.get("stubs", [])]
        for name in names:
            text = f'#!/bin/sh\nexec {self.top}/probe.py {name} "$@"\n'
            place = self.directory if name.endswith(".sh") else stubs  # srun finds a script of the working directory without "./"
            write(os.path.normpath(os.path.join(place, name)), text, 0o755)
        os.symlink(self.hpcml, stubs + "/torchrun")
        for name in ("python", "python3"):
            write(f"{self.directory}/venv/bin/{name}", f'#!/bin/sh\nexec {self.top}/probe.py {name} "$@"\n', 0o755)
        write(self.directory + "/venv/bin/activate", f'export VIRTUAL_ENV="{self.directory}/venv"\nPATH="$VIRTUAL_ENV/bin:{stubs}:$PATH"\nexport PATH\n')
        for name, text in self.entry.get("files", {}).items():
            if not name.startswith("/"):
                write(os.path.normpath(os.path.join(self.directory, name)), text)

    def digest(self):
        """Returns a hash of the written script and of the intent that it is compared with."""
        with open(self.directory + "/ported.sh", encoding="utf-8", errors="surrogateescape") as file:
            text = file.read()
        text = text.replace(self.directory, "$PWD").replace(self.hpcml, "hpcml")
        text = re.sub(r"(?m)^# Checksum .*\n", "", text)
        text = re.sub(r"\s+|\b[0-9a-f]{16}\b", "", text)  # hashes of profiles, and where lines break
        text += json.dumps({key: self.entry[key] for key in sorted(self.entry) if key not in ("kind", "corrected", "refusal_accepted")}, sort_keys=True)
        return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:16]

    def run(self, earlier):
        """Imports and emulates, and returns the result as a dictionary, without names of this machine."""
        result = self.run_job(earlier)
        places = {self.directory: "{W}", self.top: "{TOP}", self.hpcml: "hpcml"}
        for name in ("reasons", "differences", "warnings"):
            if name in result:
                result[name] = [hide_machine(text, places, getpass.getuser()) for text in result[name]]
        return result

    def run_job(self, earlier):
        """Imports and emulates. Keeps an earlier result of the same written script."""
        self.prepare()
        result = {"id": self.entry["id"], "site": self.site}
        options = self.options()
        done = self.generate(options)
        for message, time in (("requires --time", self.least_time()), ("error: time limit", "30")):
            if done.returncode and message in done.stderr:  # the hint says so
                place = options.index("--time") if "--time" in options else len(options)
                options[place:place + 2] = ["--time", time]
                done = self.generate(options)
        result["options"] = [option.replace(self.directory, "$PWD") for option in options]
        result["report"] = done.stderr
        if done.returncode:
            errors = [line for line in done.stderr.splitlines() if re.search(r"(^|: )error: ", line)]
            return dict(result, outcome="refused", exit_code=done.returncode, reasons=errors)
        if "launches" not in self.entry["intent"]:
            return dict(result, outcome="wrong", differences=["the script was to be refused: " + self.entry["intent"]["refuse"]])
        result["digest"] = self.digest()
        if result["digest"] == earlier.get("digest"):
            differences = [text for text in earlier["differences"] if compare.LOST not in text]
        else:
            differences = self.measure(result)
        if SITES[self.site].get("no_engine"):
            differences += compare.check_lost_binds(self.entry["intent"], result["report"])
        if differences:
            result["warnings"] = [line for line in result["report"].splitlines() if "warning: " in line and "module" not in line]
        return dict(result, outcome="wrong" if differences else "same", differences=differences)

    def measure(self, result):
        """Emulates the written script, and returns the differences between its run and the intent."""
        code, result["output"] = self.emulate()
        site = SITES[self.site]
        differences = compare.compare(self.entry, self.read_records(), self.read_calls(), self.fill, unlimited=site.get("gpus_without_request", 0),
                                      engine=not site.get("no_engine"), new_image=self.entry["id"] in NEW_IMAGE)
        if code:
            differences.append(f"the job ends with exit code {code}: " + " | ".join(result["output"].strip().splitlines()[-3:])[:300])
        return differences

    def generate(self, options):
        return subprocess.run([self.hpcml, "gen", "--site", self.site, *options, "--from", "script.sh", "-o", "ported.sh"],
                              cwd=self.directory, capture_output=True, text=True, timeout=60, check=False)

    def emulate(self):
        environment = {name: os.environ[name] for name in ("HOME", "LANG", "LOGNAME", "SHELL", "TERM", "USER") if name in os.environ}
        environment.update({name: self.fill(value) for name, value in self.entry.get("submit_environment", {}).items()})
        environment["PATH"] = f"{self.top}/stubs:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
        command = ["timeout", "-k", "20", str(TIMEOUT), self.hpcml, "emulate", "--site", self.site, "--record", self.top + "/calls.jsonl", "ported.sh"]
        done = subprocess.run(command + [self.fill(word) for word in self.entry.get("arguments", [])], cwd=self.directory, env=environment,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
        output = done.stdout
        for name in sorted(os.listdir(self.directory)):
            if name.endswith((".out", ".err")):
                with open(os.path.join(self.directory, name), encoding="utf-8", errors="replace") as file:
                    output += file.read()[-1500:]
        return done.returncode, output

    def read_records(self):
        directory, records = self.top + "/records", []
        for name in sorted(os.listdir(directory)):
            if name.endswith(".json"):
                with open(os.path.join(directory, name), encoding="utf-8") as file:
                    records.append(json.load(file))
        return records

    def read_calls(self):
        if not os.path.exists(self.top + "/calls.jsonl"):
            return []
        with open(self.top + "/calls.jsonl", encoding="utf-8") as file:
            return [json.loads(line) for line in file]


def run_all(arguments):
    """Runs the trials, prints one line for each, and writes the results."""
    intents = [entry for entry in read_intents() if not arguments.only or entry["id"] in arguments.only.split(",")]
    sites = arguments.sites.split(",") if arguments.sites else list(SITES)
    files = {entry["intent"].get("image", ""): "image\n" for entry in intents}
    files.update({name: text for entry in intents for name, text in entry.get("files", {}).items()})
    absolute = AbsoluteFiles({name: text for name, text in files.items() if name.startswith("/")}, read_absolute_paths(arguments.scripts, intents))
    top = arguments.keep or tempfile.mkdtemp(prefix="imports-", dir="/var/tmp")
    results, earlier = [], read_results(arguments.results) if arguments.reuse else {}

    def one(task):
        entry, site = task
        try:
            return Trial(entry, site, arguments.scripts, os.path.abspath(arguments.hpcml), top).run(earlier.get((entry["id"], site), {}))
        except (OSError, subprocess.SubprocessError) as error:
            return {"id": entry["id"], "site": site, "outcome": "wrong", "differences": [f"the trial failed: {error}"]}

    try:
        with concurrent.futures.ThreadPoolExecutor(arguments.workers) as pool:
            for result in pool.map(one, [(entry, site) for entry in intents for site in sites]):
                results.append(result)
                detail = result.get("differences") or result.get("reasons") or []
                print(result["id"], result["site"], result["outcome"], "; ".join(detail)[:600], flush=True)
    finally:
        absolute.remove()
        if not arguments.keep:
            shutil.rmtree(top, ignore_errors=True)
    if arguments.results:
        write_results(arguments.results, results)


def read_results(path):
    """Returns the results of a file by script and site; none if it does not exist."""
    if not path or not os.path.exists(path) and not os.path.exists(path + ".gz"):
        return {}
    return {(result["id"], result["site"]): result for result in json.loads(test_data.read(path))["results"]}


def read_earlier_counts(path):
    """Returns the counts of earlier runs, which the page compares with the last; none if the file does not exist."""
    if not os.path.exists(path) and not os.path.exists(path + ".gz"):
        return {}
    return json.loads(test_data.read(path))["earlier"]


def write_results(path, results):
    """Writes the results, without reports and outputs; earlier results of other trials stay."""
    kept, earlier = read_results(path), read_earlier_counts(path)
    kept.update({(r["id"], r["site"]): {key: value for key, value in r.items() if key not in ("report", "output")} for r in results})
    order = list(SITES)
    rows = [kept[key] for key in sorted(kept, key=lambda key: (int(key[0]), order.index(key[1])))]
    with open(path, "w", encoding="utf-8") as file:
        file.write('{"earlier": ' + json.dumps(earlier) + ',\n"results": [\n' + ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows) + "\n]}\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scripts", nargs="?")
    parser.add_argument("--hpcml", default=os.path.join(HERE, "../../../build/release/bin/hpcml"))
    parser.add_argument("--only")
    parser.add_argument("--sites")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--results")
    parser.add_argument("--reuse", action="store_true", help="do not run a written script again that the results have already")
    parser.add_argument("--keep", help="keep the working directories here")
    parser.add_argument("--table", metavar="RESULTS")
    arguments = parser.parse_args()
    if arguments.table:
        print(table.page(read_intents(), json.loads(test_data.read(arguments.table)), list(SITES)), end="")
        return
    if not arguments.scripts:
        parser.error("SCRIPTS is missing")
    run_all(arguments)


if __name__ == "__main__":
    main()
