# SPDX-License-Identifier: MIT
"""Compares what programs of a job recorded with the intent of its script."""
import collections
import re
import shlex

LOST = "is lost without a warning"
NO_GPUS = ("", "-1", "NoDevFiles")  # values of Slurm and the sites that hide all GPUs
REPLACEMENTS = {"nvidia-smi": ("nvidia-smi", "rocm-smi")}  # a site with AMD GPUs has the second
RUNS = {"once": 1, "twice": 2, "twice, in the batch script": 2}


def expand(launch, fill):
    """Returns a launch of intents.json as launches with word lists, one for each set of values in `each`."""
    expanded = []
    for values in launch.get("each", [{}]):
        text = fill(launch["arguments"])
        for name, value in values.items():
            text = text.replace("{" + name + "}", str(value))
        expanded.append(dict(launch, arguments=shlex.split(text)))
    return expanded


def is_equal(expected, found):
    """True if a value is the expected one; "re:" starts a pattern, also inside a word."""
    if "re:" in expected:
        head, pattern = expected.split("re:", 1)
        return re.fullmatch(re.escape(head) + pattern, found) is not None
    return expected == found


def is_program(expected, record):
    """True if a record is of that program: python and python3 are one."""
    names = {"python": "python", "python3": "python"}
    name = expected.rsplit("/", 1)[-1]
    return names.get(name, name) == names.get(record["program"], record["program"])


def has_arguments(expected, record):
    words = record["arguments"]
    return len(words) == len(expected) and all(is_equal(want, have) for want, have in zip(expected, words))


def gpus_of(record, unlimited):
    """Returns the GPUs that a process sees: `unlimited` of them if no variable limits them."""
    for name in ("CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES"):
        value = record["environment"].get(name)
        if value is not None:
            return [gpu for gpu in value.split(",") if gpu not in NO_GPUS]
    return list(range(unlimited))


def number(record, *names):
    """Returns the first of these variables that is set, as a number."""
    for name in names:
        value = record["environment"].get(name, "")
        if value.isdigit():
            return int(value)
    return None


def check_ranks(launch, records):
    """Returns what is wrong with the number of processes and their ranks."""
    count, faults = launch["ranks"], []
    if len(records) != count:
        return [f"{len(records)} processes instead of {count}"]
    if count == 1:
        return []
    ranks = [number(record, "RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID") for record in records]
    if sorted(rank if rank is not None else -1 for rank in ranks) != list(range(count)):
        faults.append(f"ranks {sorted(str(rank) for rank in ranks)} instead of 0 to {count - 1}")
    worlds = {number(record, "WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS", "SLURM_NTASKS") for record in records}
    if worlds != {count}:
        faults.append(f"world sizes {sorted(str(world) for world in worlds)} instead of {count}")
    return faults


def check_gpus(launch, records, unlimited):
    """Returns what is wrong with the GPUs that each process sees."""
    own, sees = launch["gpus_per_rank"], launch["gpus_visible"]
    nodes = collections.defaultdict(list)
    for record in records:
        nodes[record["node"]].append(record)
    faults = set()
    for ranks in nodes.values():
        seen = [gpus_of(record, unlimited) for record in ranks]
        counts = {len(gpus) for gpus in seen}
        if sees == "none":
            continue
        wanted = {"own": {own}, "node": {own * len(ranks)}, "any": {own, own * len(ranks)}}[sees]
        if not counts <= wanted:
            faults.add(f"a process sees {sorted(counts)} GPUs instead of {sorted(wanted)} ({len(ranks)} on the node)")
        elif counts == {own} and len(ranks) > 1 and own:
            devices = [gpu for gpus in seen for gpu in gpus]
            if len(set(devices)) != len(devices):
                faults.add("processes share a GPU")
        local = [number(record, "LOCAL_RANK", "SLURM_LOCALID") for record in ranks]
        if sees == "node" and len(ranks) > 1 and sorted(x if x is not None else -1 for x in local) != list(range(len(ranks))):
            faults.add(f"local ranks {sorted(str(x) for x in local)}")
    return sorted(faults)


def check_environment(intent, records, fill):
    """Returns the variables that a process does not see with their values."""
    faults = set()
    for name, expected in intent.get("environment", {}).items():
        for record in records:
            found = record["environment"].get(name)
            if found is None or not is_equal(fill(expected), found):
                faults.add(f"{name} is {found!r} instead of {expected!r}"[:160])
    return sorted(faults)


def check_helpers(intent, records, nodes):
    """Returns helper steps that did not run as often as before."""
    faults = []
    for helper in intent.get("helpers", []):
        if "may be replaced" in helper.get("note", ""):
            continue
        name = helper["command"].rsplit("/", 1)[-1]
        mine = [record for record in records if record["program"] in REPLACEMENTS.get(name, (name,))]
        wanted = nodes if helper["runs"] == "node" else RUNS.get(helper["runs"])
        if wanted is not None and len(mine) != wanted:
            faults.append(f"{helper['command']} ran {len(mine)} times instead of {wanted}")
    return faults


def check_containers(intent, calls, new_image):
    """Returns images and binds that the container calls do not have."""
    if "image" not in intent:
        return []
    texts = [" ".join(call["argv"]) for call in calls if call.get("tool") in ("apptainer", "singularity")]
    if not texts:
        return ["no container was started"]
    faults = []
    for bind in intent.get("binds", []):
        target = bind.split(":")[1].rstrip("/") if ":" in bind else bind
        if target.startswith("/") and not any(target.replace("//", "/") in text.replace("//", "/") for text in texts):
            faults.append(f"no bind to {target}")
    image = intent["image"]
    if image.endswith(".sif") and not new_image and not any(image in text for text in texts):
        faults.append(f"image {image} is not used")
    return faults


def check_lost_binds(intent, report):
    """Returns binds that a job without a container loses, if the report of the import does not name them."""
    targets = [bind.split(":")[1].replace("//", "/") for bind in intent.get("binds", []) if ":/" in bind]
    lines = [line for line in report.replace("//", "/").splitlines() if re.search(r"\b(bind|binds|mount|mounted)\b", line)]
    return [f"the bind to {target} {LOST}" for target in targets if not any(target in line for line in lines)]


def compare(entry, records, calls, fill, *, unlimited=0, engine=True, new_image=False):
    """Returns the differences between intent and run, one line each.

    `unlimited`: GPUs of a process without a variable that limits them; `engine`: the site has a container engine;
    `new_image`: the user names another image.
    """
    intent, faults, rest = entry["intent"], [], list(records)
    launches = [one for launch in intent["launches"] for one in expand(launch, fill)]
    helpers = {helper["command"].rsplit("/", 1)[-1] for helper in intent.get("helpers", [])}
    used, nodes = [], 0
    for launch in launches:
        mine = [record for record in rest if is_program(launch["program"], record) and has_arguments(launch["arguments"], record)]
        rest = [record for record in rest if not any(record is one for one in mine)]
        nodes = max(nodes, len({record["node"] for record in mine}))
        used += mine
        found = check_ranks(launch, mine)
        faults += found if found else check_gpus(launch, mine, unlimited)
        absent = [path for path in intent.get("staging", []) if path.startswith("/") and any(path not in record["files"] for record in mine)]
        faults += [f"{path} does not exist for the program" for path in absent]
    others = [record for record in rest if record["program"] not in helpers | {"nvidia-smi", "rocm-smi"}]
    texts = collections.Counter(" ".join([record["program"], *record["arguments"]])[:200] for record in others)
    faults += [f"{count} times started, not in the intent: {text}" for text, count in texts.items()]
    faults += check_environment(intent, used, fill)
    faults += check_helpers(intent, rest, nodes)
    faults += check_containers(intent, calls, new_image) if engine else []
    return list(dict.fromkeys(faults))
