# SPDX-License-Identifier: MIT
"""One page for each rule of `hpcml check`, and their index."""
import json
from typing import Any, Callable, Dict, List

from man_page import prose
from page_set import PageSet, block, code, table

GROUPS = {
    "slurm": "Script and directives",
    "site": "Request and site",
    "launch": "Launch of the programs",
    "safety": "Safety",
    "check": "Suppressing comments",
}


def _examples(title: str, examples: List[Dict[str, str]]) -> str:
    text = f"\n## {title}\n" if examples else ""
    for example in examples:
        target = [example["site"] and f"site {code(example['site'])}", example["version"] and f"Slurm {example['version']}"]
        where = ", ".join(filter(None, target))
        text += f"\n{'For ' + where + ':' if where else ''}\n\n" + block(example["script"], "bash")
    return text


def _page(rule: Dict[str, Any]) -> str:
    fix = "`hpcml check --fix` corrects it." if rule["fix"] else "There is no automatic fix."
    return (
        f"# {rule['id']}\n\n**{prose(rule['title'])}**\n\nSeverity: {rule['severity']}. {fix}\n\n{prose(rule['why'])}\n\n"
        f"Source: <{rule['link']}>\n"
        + _examples("Reported", rule["bad"])
        + _examples("Not reported", rule["good"])
        + "\n## Suppress it\n\nWrite this comment on the line, or on a line above it, and give the reason:\n\n"
        + block(f"# hpcml: disable={rule['id']} because …", "bash")
    )


def write(hpcml: Callable[..., str]) -> PageSet:
    """Returns the pages of all rules."""
    rules = json.loads(hpcml("rules", "--format", "json"))
    pages = {f"reference/rules/{rule['id']}.md": _page(rule) for rule in rules}
    index, nav = "", ["reference/rules/index.md"]
    for group in dict.fromkeys(rule["group"] for rule in rules):
        own = [rule for rule in rules if rule["group"] == group]
        rows = [(f"[{rule['id']}]({rule['id']}.md)", rule["severity"], prose(rule["title"])) for rule in own]
        index += f"## {GROUPS[group]}\n\n" + table(("Rule", "Severity", "Reports"), rows) + "\n"
        nav.append({GROUPS[group]: [{rule["id"]: f"reference/rules/{rule['id']}.md"} for rule in own]})
    pages["reference/rules/index.md"] = f"hpcml has {len(rules)} rules.\n\n" + index
    return PageSet(pages, nav)
