# SPDX-License-Identifier: MIT
"""Reads the CI files that docs/ ships: the YAML parses, every script in it passes shellcheck, docs/guides/check-in-ci.md shows inputs that exist.

ci_files.py REPOSITORY; prints what is wrong, exit 1 then."""
import pathlib
import re
import subprocess
import sys

import yaml

repo = pathlib.Path(sys.argv[1])
faults = []


def load(path):
    return yaml.safe_load((repo / path).read_text(encoding="utf-8"))


def shellcheck(name, script):
    result = subprocess.run(["shellcheck", "--shell=bash", "--exclude=SC2086", "-"], input=script, capture_output=True, text=True)
    if result.returncode != 0:
        faults.append(f"{name}: {result.stdout}{result.stderr}")


actions = {directory: load(f"{directory}/action.yml") for directory in ("docs/ci/github", "docs/ci/rehearse")}
for directory, action in actions.items():
    if action["runs"]["using"] != "composite":
        faults.append(f"{directory}: the action is not composite")
    for step in action["runs"]["steps"]:
        if step.get("shell") != "bash" or "${{" in step["run"]:
            faults.append(f"{directory}, step {step['name']}: no shell, or an input as part of the script")
        shellcheck(step["name"], step["run"])

gitlab = {name: load(f"docs/ci/{name}") for name in ("gitlab.yml", "gitlab-rehearse.yml")}
for name, file in gitlab.items():
    job = file[next(key for key in file if key.startswith("hpcml-"))]
    if "variables" in job:
        faults.append(f"{name}: the job's own variables hide those that the including file sets")
    shellcheck(name, "\n".join(job["script"]))

hooks = load(".pre-commit-hooks.yaml")
ids = {hook["id"] for hook in hooks}

for page, count in (("docs/guides/check-in-ci.md", 3), ("docs/guides/test-slurm-tools.md", 2)):
    blocks = [yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", (repo / page).read_text(encoding="utf-8"), re.S)]
    for block in blocks:
        for one in (block.get("jobs") or {}).values():
            for step in one["steps"]:
                directory = step.get("uses", "").partition("@")[0].partition("/hpcml/")[2]
                if directory:
                    faults += [f"{page}: {directory} has no input {name}" for name in step["with"] if name not in actions[directory]["inputs"]]
        included = [one["file"].rpartition("/")[2] for one in block.get("include") or []]
        for name in block.get("variables") or {}:
            faults += [f"{page}: {file} has no variable {name}" for file in included if name not in gitlab[file]["variables"]]
        for one in block.get("repos") or []:
            faults += [f"{page}: there is no hook {hook['id']}" for hook in one["hooks"] if hook["id"] not in ids]
    if len(blocks) != count:
        faults.append(f"{page} has {len(blocks)} examples, not {count}")
print("\n".join(faults))
sys.exit(1 if faults else 0)
