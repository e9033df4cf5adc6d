# SPDX-License-Identifier: MIT
"""Reads the CI files that docs/ ships: the YAML parses, every script in it passes shellcheck, docs/ci.md shows inputs that exist.

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


action = load("docs/ci/github/action.yml")
if action["runs"]["using"] != "composite":
    faults.append("the action is not composite")
for step in action["runs"]["steps"]:
    if step.get("shell") != "bash" or "${{" in step["run"]:
        faults.append(f"step {step['name']}: no shell, or an input as part of the script")
    shellcheck(step["name"], step["run"])

gitlab = load("docs/ci/gitlab.yml")
job = gitlab["hpcml-check"]
if "variables" in job:
    faults.append("gitlab.yml: the job's own variables hide those that the including file sets")
shellcheck("gitlab", "\n".join(job["script"]))

hooks = load(".pre-commit-hooks.yaml")
ids = {hook["id"] for hook in hooks}

blocks = [yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", (repo / "docs/ci.md").read_text(encoding="utf-8"), re.S)]
for block in blocks:
    for one in (block.get("jobs") or {}).values():
        for step in one["steps"]:
            if "docs/ci/github" in step.get("uses", ""):
                faults += [f"the action has no input {name}" for name in step["with"] if name not in action["inputs"]]
    for name in block.get("variables") or {}:
        if name not in gitlab.get("variables", {}):
            faults.append(f"gitlab.yml has no variable {name}")
    for one in block.get("repos") or []:
        faults += [f"there is no hook {hook['id']}" for hook in one["hooks"] if hook["id"] not in ids]
if len(blocks) != 3:
    faults.append(f"docs/ci.md has {len(blocks)} examples, not 3")
print("\n".join(faults))
sys.exit(1 if faults else 0)
