# SPDX-License-Identifier: MIT
"""Profiles and the JSON Schema of `hpcml sites schema`, by Python's jsonschema.

schema_test.py HPCML SOURCE_DIR: the shipped profiles and the example match the schema, and whatever the
schema rejects of 400 random changes to the example `hpcml sites validate` rejects as well.
"""
import copy
import json
import pathlib
import random
import subprocess
import sys
import tempfile

import jsonschema

K_SEED = 20261128
K_CHANGES = 400
K_VALUES = [None, True, 0, -1, 7, 10**9, 1.5, "", "x", "soon", "2026-02-30", [], [1], ["x"], {}, {"x": 1}]


def read_profile(path):
    """Returns the profile without its comments, which take whole lines or stand behind values."""
    lines = []
    for line in path.read_text(encoding="utf-8").splitlines():
        in_text = escaped = False
        for i, char in enumerate(line):
            if char == '"' and not escaped:
                in_text = not in_text
            escaped = char == "\\" and not escaped
            if not in_text and line.startswith("//", i):
                line = line[:i]
                break
        lines.append(line)
    return json.loads("\n".join(lines))


def list_places(node):
    """Returns the containers of a tree with the keys or indices in them."""
    places = []
    keys = node.keys() if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ()
    for key in keys:
        places.append((node, key))
        places += list_places(node[key])
    return places


def change(profile, draw):
    """Changes one value of a copy, adds an unknown key or removes a key."""
    changed = copy.deepcopy(profile)
    container, key = draw.choice(list_places(changed))
    kind = draw.randrange(10)
    if kind == 0 and isinstance(container, dict):
        container["unknown_" + key] = container[key]
    elif kind == 1 and isinstance(container, dict):
        del container[key]
    elif kind == 2:
        container[key] = {"value": container[key], draw.choice(["checked", "note", "source"]): draw.choice(K_VALUES)}
    else:
        container[key] = copy.deepcopy(draw.choice(K_VALUES))
    return changed


def main():
    hpcml, source = sys.argv[1], pathlib.Path(sys.argv[2])
    schema = json.loads(subprocess.run([hpcml, "sites", "schema"], check=True, capture_output=True).stdout)
    validator = jsonschema.Draft7Validator(schema)
    jsonschema.Draft7Validator.check_schema(schema)
    shipped = sorted((source / "sites").glob("*.json"))
    shipped = [path for path in shipped if path.name != "schema.json"]
    example = source / "docs/examples/site.json"
    failures = []
    for path in shipped + [example]:
        failures += [f"{path}: {error.json_path}: {error.message}" for error in validator.iter_errors(read_profile(path))]
    draw = random.Random(K_SEED)
    profile = read_profile(example)
    by_schema = by_hpcml = 0
    with tempfile.TemporaryDirectory() as directory:
        path = pathlib.Path(directory) / (profile["id"] + ".json")
        for _ in range(K_CHANGES):
            changed = change(profile, draw)
            path.write_text(json.dumps(changed), encoding="utf-8")
            error = next(validator.iter_errors(changed), None)
            output = subprocess.run([hpcml, "sites", "validate", path], capture_output=True, text=True, check=False)
            if output.returncode not in (0, 3):
                failures.append(f"exit code {output.returncode}: {output.stderr}")
            by_schema += error is not None
            by_hpcml += output.returncode == 3
            if error is not None and output.returncode == 0:
                failures.append(f"accepted, but {error.json_path}: {error.message}")
    print(f"{len(shipped)} profiles; of {K_CHANGES} changes the schema rejects {by_schema}, hpcml {by_hpcml}")
    if not K_CHANGES // 2 < by_schema < K_CHANGES:
        failures.append("the changes test little")
    print("\n".join(failures))
    return 1 if failures or len(shipped) < 9 else 0


if __name__ == "__main__":
    sys.exit(main())
