# SPDX-License-Identifier: MIT
"""Writes docs/development/import-trials.md from intents, results and judged refusals."""
import json
import os
import re

HERE = os.path.dirname(os.path.abspath(__file__))
PLACE = "tests/import_script/held_out"
WORDS = {"same": "same", "warned": "*warned*", "wrong": "**wrong**", "well": "refused", "badly": "**refused badly**"}

# Each set of scripts: when each earlier run was, and what the last one shows.
SETS = (
    ("01-40", ("before the defects that it found were fixed",),
     "The fixes since then were made with these scripts in sight. The last run shows that they hold, not what to expect of other scripts."),
    ("41-80", ("before errors of the trial were corrected", "before the importer was changed", "after the first fixes"),
     "The importer was not changed between the first two runs. The fixes since then were made with these scripts in sight. "
     "The errors of the trial: a missing time limit was not added, hidden GPUs were counted as one, rocm-smi was not accepted for nvidia-smi, "
     "the stand-in of nvidia-smi printed no memory, and three intents (below)."),
    ("81-120", ("before errors of the trial were corrected", "before the importer was changed"),
     "The importer was not changed between the first two runs, and no fix had been made with these scripts in sight: "
     "they show what to expect of other scripts. The fixes since then were made with these scripts in sight. "
     "The errors of the trial are those of three intents (below)."),
    ("121-160", ("before errors of the trial were corrected", "before the importer was changed"),
     "The importer was not changed between the first two runs, and no fix had been made with these scripts in sight: "
     "they show what to expect of other scripts. The fixes since then were made with these scripts in sight. "
     "The errors of the trial are those of four intents (below)."),
    ("161-200", ("before errors of the trial were corrected", "before the importer was changed"),
     "No fix had been made with these scripts in sight before the first two runs: they show what to expect of other scripts. "
     "The fixes since then were made with these scripts in sight. The error of the trial: two of its jobs shared a directory."),
    ("201-240", ("before the importer was changed",),
     "No fix had been made with these scripts in sight before the first run: it shows what to expect of other scripts. "
     "The fixes since then were made with these scripts in sight."),
    ("241-280", ("before errors of the trial were corrected", "before the importer was changed"),
     "The importer was not changed between the first two runs, and no fix had been made with these scripts in sight: "
     "they show what to expect of other scripts. The fixes since then were made with these scripts in sight. The error of the trial: its stand-in of accelerate read a dash in a path as an underscore."),
    ("281-320", ("before errors of the trial were corrected", "before the importer was changed"),
     "The importer was not changed between the first two runs, and no fix had been made with these scripts in sight: "
     "they show what to expect of other scripts. The fixes since then were made with these scripts in sight. "
     "The errors of the trial: a variable of its machine reached script 316, a stand-in of uv was missing in script 293, "
     "and an intent (below). Three others are left: a login shell in the container of script 286 does not find the stand-ins, "
     "sites set the variable SCRATCH of script 291 themselves, and the emulated zurada has no accounts, whose name script 304 reads."),
    ("321-360", ("before an error of the trial was corrected", "before the importer was changed"),
     "The importer was not changed between the first two runs, and no fix had been made with these scripts in sight: "
     "they show what to expect of other scripts. The fixes since then were made with these scripts in sight. "
     "The error of the trial: its stand-in of accelerate did not know --no_python (351). Another is left: a login shell "
     "of the trial's machine does not find the stand-in of python in script 357, but where another trial puts one into /usr/local/bin."),
)
RUNS = ("first", "second", "third")

HEAD = """# Import trials

360 public Slurm scripts, imported to five sites, in nine sets of 40. Each result that hpcml wrote ran on the
emulated site, with programs that record their arguments, variables, ranks and GPUs. The records are
compared with an intent that was written down before any import.

The importer was fixed with the first set in sight, and later with each of the others after their first two
runs. The first runs show what to expect of other scripts, and the last ones that the fixes hold.

Run `python3 {place}/run.py SCRIPTS --results {place}/results.json` to repeat the trials, and
`run.py --table` to write this page. The intents are in `{place}/intents.json.gz`. The scripts are
not part of this repository; the table of sources names them.

## Method

- An import is *same* if launches, number of ranks, visible GPUs, arguments, named variables, helper
  steps, image, binds and staged files equal the intent, and the job exits with 0.
- An import is *wrong* if anything differs, and *warned* if hpcml printed a warning with the line and the
  cause. Both count as written, not as same. A refusal is reviewed by hand: a support engineer would
  give the same reason, or not.
- Modules, accounts and partitions of the old site are not compared. Paths exist on every site.
- Each import has the account, `--time 30` if the script has no time limit or one above the site's (the
  minutes of `--time-min` if it has that), and `--venv` or, for images of a registry or a wrapper,
  `--container`. CPU jobs name a partition on Vista and Zurada. Zurada has no container engine and gets
  `--venv`.
- Programs are stand-ins: nothing was trained. Variables of the network and the rendezvous are not
  compared, because each site has its own values.
"""


def evaluate(result, reviewed):
    """Returns the outcome of a trial, and why: same, warned (different, and a warning names the cause), wrong, well or badly refused.

    A refusal that was not reviewed counts as badly refused.
    """
    if result["outcome"] == "wrong":
        known = [warning for warning in reviewed["warnings"] if warning["id"] == result["id"] and warning.get("site", result["site"]) == result["site"]]
        named = any(re.search(warning["pattern"], line) for warning in known for line in result.get("warnings", []))
        return "warned" if named else "wrong", ""
    if result["outcome"] == "same":
        return "same", ""
    text = " ".join(result["reasons"])
    for refusal in reviewed["refusals"]:
        if refusal["id"] == result["id"] and re.search(refusal["pattern"], text):
            return refusal["verdict"], refusal["why"]
    return "badly", "not judged"


def cell(text):
    """Returns text for a cell of a table."""
    return text.replace("|", "\\|").replace("\n", " ").replace("<", "&lt;").replace("`", "'")


def share(part, whole):
    return f"{100 * part / whole:.0f} %" if whole else "-"


def count_table(outcomes, sites):
    """Returns the table of counts, one column for each site, and the shares."""
    lines = ["| result | " + " | ".join(sites) + " | all |", "|---|" + "---|" * (len(sites) + 1)]
    for name, title in (("same", "written, same intent"), ("warned", "written, different with a warning"), ("wrong", "written, wrong without a warning"), ("well", "refused, good reason"), ("badly", "refused, poor reason")):
        counts = [sum(outcomes[key] == name for key in outcomes if key[1] == site) for site in sites]
        lines.append(f"| {title} | " + " | ".join(map(str, counts)) + f" | {sum(counts)} |")
    written = [value for value in outcomes.values() if value in ("same", "warned", "wrong")]
    same = sum(value == "same" for value in written)
    return lines + ["", f"{len(written)} of {len(outcomes)} imports were written ({share(len(written), len(outcomes))}; goal: 75 %). "
                    f"{same} of them have the same intent ({share(same, len(written))}; goal: 97 %)."]


def totals(outcomes, sites, earlier):
    """Returns the totals of each set of scripts. `earlier`: the counts of earlier runs of each set, in order."""
    lines = ["## Totals"]
    for name, times, after in SETS:
        low, high = name.split("-")
        part = {key: value for key, value in outcomes.items() if int(low) <= int(key[0]) <= int(high)}
        if not part:
            continue
        lines += ["", f"### Scripts {low} to {high}", "", *count_table(part, sites)]
        for run, time, counts in zip(RUNS, times, earlier.get(name, [])):
            lines += ["", f"In the {run} run, {time}, {counts['written']} were written, {counts['same']} of them with the same "
                      f"intent ({share(counts['same'], counts['written'])}), {counts['well']} were refused with a good reason and {counts['badly']} with a poor one."]
        if name in earlier:
            lines += ["", after]
    return lines


def name_version(source):
    """Returns the commit of a source, or its blob if the collection that has it names no commit."""
    kind, _, blob = source["commit"].partition(":")
    return f"{kind} {blob[:12]}, {source['collection']}" if blob else kind[:12]


def group(rows):
    """Returns [(text, ids and sites)] of (id, site, text), equal texts of one script together."""
    merged = {}
    for identifier, site, text in rows:
        merged.setdefault((identifier, text), []).append(site)
    return [(identifier, sites, text) for (identifier, text), sites in merged.items()]


def page(intents, trials, sites):
    """Returns the text of the page."""
    results = trials["results"]
    with open(os.path.join(HERE, "refusals.json"), encoding="utf-8") as file:
        reviewed = json.load(file)
    evaluated = {(result["id"], result["site"]): evaluate(result, reviewed) for result in results}
    outcomes = {key: value[0] for key, value in evaluated.items()}
    lines = HEAD.format(place=PLACE).splitlines() + [""] + totals(outcomes, sites, trials["earlier"]) + [""]
    lines += ["## Imports", "", "| script | form | " + " | ".join(sites) + " |", "|---|---|" + "---|" * len(sites)]
    for entry in intents:
        words = [WORDS.get(outcomes.get((entry["id"], site), ""), "not run") for site in sites]
        lines.append(f"| {entry['id']} | {cell(entry['kind'])} | " + " | ".join(words) + " |")
    wrong = [(r["id"], r["site"], "; ".join(r["differences"])) for r in results if r["outcome"] == "wrong"]
    lines += ["", "## Differences", ""]
    lines += ["| script | sites | difference |", "|---|---|---|"] if wrong else ["None."]
    lines += [f"| {identifier} | {', '.join(where)} | `{cell(text)[:240]}` |" for identifier, where, text in group(wrong)]
    refused = [(r["id"], r["site"], "\0".join([re.sub(r"^\S+?: (?=error)", "", r["reasons"][0]), *evaluated[r["id"], r["site"]]])) for r in results if r["outcome"] == "refused"]
    lines += ["", "## Refusals", "", "| script | sites | message of hpcml | reason | why |", "|---|---|---|---|---|"]
    for identifier, where, text in group(refused):
        message, verdict, why = text.split("\0")
        lines.append(f"| {identifier} | {', '.join(where)} | `{cell(message)[:200]}` | {'good' if verdict == 'well' else 'poor'} | {cell(why)} |")
    corrected = [entry for entry in intents if "corrected" in entry]
    lines += ["", "## Corrected intents", "", "These intents, or the files that they name, had an error, which was found when their imports were read by hand.", "", "| script | correction |", "|---|---|"]
    lines += [f"| {entry['id']} | {cell(entry['corrected'])} |" for entry in corrected]
    lines += ["", "## Sources", "", "\"Changed\" lists what was changed before the import, to fit at most 16 emulated nodes, or because a user gives it to `sbatch`.",
              "A script of a collection is named by its blob.", "",
              "| script | repository | file | commit | changed |", "|---|---|---|---|---|"]
    for entry in intents:
        source = entry["source"]
        changes = [f"`{old[:40]}` to `{new}`" for old, new in entry.get("scaled", [])] + [f"`#SBATCH {option}` added" for option in entry.get("directives", [])]
        lines.append(f"| {entry['id']} | `{source['repository']}` | `{source['path']}` | {name_version(source)} | {cell(', '.join(changes))} |")
    return "\n".join(lines) + "\n"
