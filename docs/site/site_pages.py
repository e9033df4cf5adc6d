# SPDX-License-Identifier: MIT
"""One page for each site profile that comes with hpcml, and their index."""
import json
import pathlib
import re
from typing import Callable, Dict, List

from man_page import prose
from page_set import PageSet, code, table

_HEADINGS = {"Not known": "Unknown"}
_FACT = re.compile(r"^  (\S+)\s{2,}(.*?)(?:  \[([^\]]+)\])?$")
_SOURCE = re.compile(r"^  (\S+)\s+(\S+)\s+(.*)$")
_ON_GITHUB = re.compile(r"^github:([\w.-]+/[\w.-]+):(\S+)(?: @([0-9a-f]+))?(.*)$")


def _sections(text: str) -> Dict[str, List[str]]:
    """Returns the sections of what `hpcml sites show` prints."""
    sections: Dict[str, List[str]] = {}
    name = ""
    for line in text.splitlines():
        if line and not line.startswith(" "):
            name = re.split(r" \(|:", line)[0]
            sections[name] = []
        elif line:
            sections[name].append(line)
    return sections


def _facts(lines: List[str]) -> str:
    rows: List[List[str]] = []
    for line in lines:
        note = re.match(r"^ +note: (.*)$", line)
        other = re.match(r"^  \S+ +not (.*)$", line)
        fact = _FACT.match(line)
        if note and rows:
            rows[-1][1] += "<br>" + prose(note.group(1))
        elif other and rows:
            rows[-1][1] += "<br>Instead of: " + prose(other.group(1))
        elif fact:
            rows.append([code(fact.group(1)), code(fact.group(2)), prose(fact.group(3) or "")])
    return table(("Fact", "Value", "Source"), rows)


def _link(place: str) -> str:
    """Returns the address of a source as a link."""
    on_github = _ON_GITHUB.match(place)
    if on_github:
        repository, path, commit, rest = on_github.groups()
        return f"[{repository}: {path}](https://github.com/{repository}/blob/{commit or 'HEAD'}/{path}){rest}"
    address, _, rest = place.partition(" ")
    return f"<{address}> {rest}".strip() if address.startswith("http") else prose(place)


def _sources(lines: List[str]) -> str:
    matches = filter(None, map(_SOURCE.match, lines))
    return table(("Source", "Read on", "Address"), [(prose(a), b, _link(c)) for a, b, c in (m.groups() for m in matches)])


def _section(name: str, lines: List[str]) -> str:
    if name == "Facts":
        return f"## Facts\n\n{_facts(lines)}\n"
    if name == "Sources":
        return f"## Sources\n\n{_sources(lines)}\n"
    if name in _HEADINGS:
        return f"## {_HEADINGS[name]}\n\nNo source states these facts:\n\n" + "".join(f"- {code(x.strip())}\n" for x in lines) + "\n"
    rows = [re.split(r"\s{2,}", line.strip()) for line in lines]
    head = [cell.capitalize().replace("Gpus", "GPUs").replace("Qos", "QoS") for cell in rows[0]]
    legend = "`*` marks the default. `?` means that no source states the value.\n"
    return f"## {name}\n\n{table(head, [map(prose, row) for row in rows[1:]])}\n{legend}\n"


def _placements(hpcml: Callable[..., str]) -> Dict[str, str]:
    """Returns the tables of `hpcml affinity --all-sites` by the site's name."""
    found: Dict[str, str] = {}
    for part in hpcml("affinity", "--all-sites").split("\n## ")[0:]:
        title, _, text = part.removeprefix("## ").partition("\n")
        name, _, node = title.rpartition(": ")
        if name:
            found[name] = found.get(name, "") + f"### Node type {node}\n{text.rstrip()}\n\n"
    return found


def _own_text(root: pathlib.Path, site: str) -> str:
    """Returns the text that is kept for a site, with its title one level lower."""
    path = root / "docs/reference/sites" / f"{site}.md"
    return re.sub("^#", "##", path.read_text(encoding="utf-8"), flags=re.M) + "\n" if path.is_file() else ""




def write(hpcml: Callable[..., str], root: pathlib.Path) -> PageSet:
    """Returns the pages of all sites."""
    placements, pages, rows = _placements(hpcml), {}, []
    sites = json.loads(hpcml("sites", "list", "--format", "json"))
    for site in sites:
        name, key = site["name"], site["site"]
        sections = _sections(hpcml("sites", "show", key))
        profile = f"`--site {key}`, {site['state']}. Last checked on {site['checked']}."
        text = f"# {name}\n\n{profile}\n\n"
        order = [part for part in ("Partitions", "QoS") if part in sections]
        text += "".join(_section(part, sections[part]) for part in order)
        text += _own_text(root, key)
        if name in placements:
            text += "## Placement\n\nOne rank per GPU, each with all cores near its GPU. `--cpus-per-rank` reduces them.\n\n"
            text += f'![Ranks, cores and GPUs of a node]({key}.svg){{ width="400" }}\n\n'
            pages[f"reference/sites/{key}.svg"] = hpcml("affinity", "--site", key, "--format", "svg")
            text += placements[name]
        text += "".join(_section(part, sections[part]) for part in ("Not known", "Facts", "Sources") if sections.get(part))
        pages[f"reference/sites/{key}.md"] = text
        rows.append((f"[{code(key)}]({key}.md)", name, prose(site["gpus_per_node"]), site["nodes"], site["checked"]))
    index = f"hpcml has profiles of {len(sites)} sites.\n\n" + table(("`--site`", "Site", "GPUs per node", "Nodes", "Checked"), rows)
    pages["reference/sites/index.md"] = index
    nav = ["reference/sites/index.md", *({site["name"]: f"reference/sites/{site['site']}.md"} for site in sites)]
    return PageSet(pages, nav)
