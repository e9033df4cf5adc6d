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


def plot(rows):
    """Each row's value as a share of its goal, on a scale of powers of ten: what is left of the line is within."""
    width, left, right, step, top = 980, 470, 70, 22, 56
    least = min([row["value"] / row["goal"] for row in rows if row["value"] > 0] + [0.1])
    low, high = math.floor(math.log10(max(least, 1e-4))), math.log10(max([row["value"] / row["goal"] for row in rows] + [1])) + 0.2

    def place(share):
        return left + (min(max(math.log10(max(share, 10 ** low)), low), high) - low) / (high - low) * (width - left - right)

    height = top + step * len(rows) + 40
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
             'font-family="DejaVu Sans, Helvetica, Arial, sans-serif" font-size="12">',
             f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
             '<text x="12" y="24" font-size="15" font-weight="bold" fill="#222">hpcml: each result as a share of its goal</text>',
             '<text x="12" y="42" fill="#555">shorter is better; what ends left of the line meets its goal (scale of powers of ten)</text>']
    bottom = top + step * len(rows)
    for power in range(low, 1):
        x = place(10 ** power)
        parts.append(f'<line x1="{x:.1f}" y1="{top}" x2="{x:.1f}" y2="{bottom}" stroke="{"#222" if power == 0 else "#ddd"}"/>')
        parts.append(f'<text x="{x:.1f}" y="{bottom + 18}" text-anchor="middle" fill="#555">{"goal" if power == 0 else f"{10 ** power:g}"}</text>')
    for at, row in enumerate(rows):
        y, end = top + step * at, place(row["value"] / row["goal"])
        parts.append(f'<text x="{left - 8}" y="{y + 15}" text-anchor="end" fill="#222">{html.escape(row["what"])}</text>')
        parts.append(f'<rect x="{left}" y="{y + 4}" width="{max(end - left, 1.5):.1f}" height="{step - 8}" fill="{"#2b7a78" if row["met"] else "#c0392b"}"/>')
        label = number(row["value"]) + ("" if row["unit"] == "of its time" else " " + row["unit"])
        for look in ('stroke="#fff" stroke-width="3" fill="#fff"', 'fill="#222"'):  # a rim, where a line is behind it
            parts.append(f'<text x="{end + 5:.1f}" y="{y + 15}" {look}>{html.escape(label)}</text>')
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
