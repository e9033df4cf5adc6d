# SPDX-License-Identifier: MIT
"""The rows of a run as a table, as JSON, as a plot (SVG) and as docs/development/benchmarks.md."""
import html
import json
import math

import goals


def number(value):
    """Three digits, and no more than the measurement has."""
    return f"{value:.3g}" if value < 1000 else f"{value:.0f}"


def side(values):
    """One side's medians in words: "4.1 ms, user 2.0 ms, 1 program, 312 calls"."""
    if not values:
        return "–"
    words = []
    for name, unit in (("wall_ms", "ms"), ("us", "µs"), ("s", "s"), ("MB", "MB"), ("ms", "ms"), ("%", "%")):
        if values.get(name) is not None:
            words.append(f"{number(values[name])} {unit}")
    if "user_ms" in values:
        words.append(f"user {number(values['user_ms'])} ms")
    if "calls" in values:
        words.append(f"{values['programs']} programs" if values["programs"] != 1 else "1 program")
        words.append(f"{values['calls']} calls")
    return ", ".join(words) or "–"


def complete(rows):
    """The rows in the goals' order, each with its goal and whether it was met."""
    by_name = {row["id"]: row for row in rows}
    strange = sorted(set(by_name) - set(goals.GOALS))
    if strange:
        raise SystemExit(f"rows without a goal in goals.json: {', '.join(strange)}")
    return [{**goal, **by_name[name], "met": goals.is_met(name, by_name[name]["value"])} for name, goal in goals.GOALS.items() if name in by_name]


def table(rows):
    lines = ["| measured | hpcml | the other | median | goal | met |", "|---|---|---|---|---|---|"]
    for row in rows:
        lines.append(f"| {row['what']} | {side(row.get('ours'))} | {side(row.get('peer'))} | {number(row['value'])} {row['unit']} | "
                     f"{row['goal']:g} | {'yes' if row['met'] else '**no**'} |")
    return "\n".join(lines) + "\n"


STYLE = """
  .sheet { fill: #fff } text { fill: #222; font: 12px sans-serif } .head { font-weight: bold } .note { fill: #52606d }
  .met { fill: #2b7a78 } .missed { fill: #c0392b } .line { stroke: #bbb } .goal { stroke: #222 } .scale { text-anchor: middle }
  @media (prefers-color-scheme: dark) {
    .sheet { fill: #1e2129 } text { fill: #e4e7eb } .note { fill: #b8c1cc } .line { stroke: #555 } .goal { stroke: #e4e7eb }
    .met { fill: #4fb3ad } .missed { fill: #f2705f }
  }
"""


def plot(rows):
    """Returns each row's value as a share of its goal, on a logarithmic scale: bars left of the goal's line meet it."""
    width, left, right, step, top = 400, 22, 66, 36, 52
    least = min([row["value"] / row["goal"] for row in rows if row["value"] > 0] + [0.1])
    low, high = math.floor(math.log10(max(least, 1e-4))), math.log10(max([row["value"] / row["goal"] for row in rows] + [1])) + 0.1

    def place(share):
        return left + (min(max(math.log10(max(share, 10 ** low)), low), high) - low) / (high - low) * (width - left - right)

    bottom = top + step * len(rows)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {bottom + 28}" width="{width}">',
             f'<style>{STYLE}</style>', f'<rect width="{width}" height="{bottom + 28}" rx="8" class="sheet"/>',
             '<text x="22" y="22" class="head">Results as a share of their goals</text>',
             '<text x="22" y="40" class="note">Shorter is better. Logarithmic scale.</text>']
    for power in range(low, 1):
        x = place(10 ** power)
        parts.append(f'<line x1="{x:.1f}" y1="{top}" x2="{x:.1f}" y2="{bottom}" class="{"goal" if power == 0 else "line"}"/>')
        parts.append(f'<text x="{x:.1f}" y="{bottom + 18}" class="note scale">{"goal" if power == 0 else f"{10 ** power:g}"}</text>')
    for at, row in enumerate(rows):
        y, end = top + step * at, place(row["value"] / row["goal"])
        label = number(row["value"]) + ("" if row["unit"] == "of its time" else " " + row["unit"])
        parts.append(f'<text x="{left}" y="{y + 14}">{html.escape(row["what"])}</text>')
        parts.append(f'<rect x="{left}" y="{y + 18}" width="{max(end - left, 1.5):.1f}" height="12" class="{"met" if row["met"] else "missed"}"/>')
        parts.append(f'<text x="{end + 5:.1f}" y="{y + 28}" class="note">{html.escape(label)}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def as_json(rows, about):
    return json.dumps({**about, "rows": rows}, indent=2, ensure_ascii=False) + "\n"


def page(rows, about):
    """docs/development/benchmarks.md."""
    missed = [row for row in rows if not row["met"]]
    versions = ", ".join(f"{name} {version}" for name, version in about["versions"].items())
    left_out = [goal["what"] for name, goal in goals.GOALS.items() if name not in {row["id"] for row in rows}]
    text = f"""# Benchmarks

`bash tests/bench/run.sh` wrote this page on {about['date']} (commit {about['commit']}). In each row hpcml and the other tool ran
alternately. The row shows the median of each tool, and the median of the ratios of all pairs. The ratio is compared with
the goal in [tests/bench/goals.json](../../tests/bench/goals.json). A run that misses a goal fails.

- Machine: {about['machine']}
- Load average: {about['load_before']} at the start, {about['load_after']} at the end
- Other tools: {versions}

![each result as a share of its goal](benchmarks.svg)

{table(rows)}
{'All goals are met.' if not missed else f'{len(missed)} of {len(rows)} goals are missed: ' + '; '.join(row['what'] for row in missed) + '.'}
"""
    if left_out:
        text += f"Not measured in this run: {'; '.join(left_out)}.\n"
    return text + """
All tools write one job of two nodes with 16 ranks. The other tools know no site: they get partition and account as options,
and set no CPU masks, network or caches. `check` and `shellcheck` read the same scripts, each for its own findings.
`affinity` and `hwloc-distrib` read the same topology. The first places ranks by their GPUs, the second spreads them.
torchrun starts `/bin/sh`. The stores answer the same load. The trainings take the same steps in the same layers.

Times are wall times unless another unit is named. `user` is processor time in user mode. `strace -f -c` counts programs and
system calls.
"""
