#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws the last step of traces that `ddp_rank overlap --trace FILE` wrote, one file per rank: overlap_picture.py FILE.0 FILE.1 > picture.svg"""
import json
import sys

WIDTH, LEFT, ROW, GAP, TOP = 1000, 120, 30, 10, 56
COLOURS = {"forward": "#bcbcbc", "compute": "#4878a8", "network": "#d8843c"}


def last_step(file):
    """Spans of the last forward and backward pass, as (name, begin, end, kind) in microseconds."""
    with open(file, encoding="utf-8") as text:
        events = [event for event in json.load(text) if event["ph"] == "X"]
    begin = max(event["ts"] for event in events if event["name"] == "forward")
    spans, sums = [], 0
    for event in sorted(events, key=lambda one: one["ts"]):
        if event["ts"] < begin or event["name"] == "backward":
            continue
        name, kind = event["name"], event["cat"]
        if kind == "network":
            sums += 1
            name = f"bucket {sums}"
        spans.append((name, event["ts"], event["ts"] + event["dur"], "forward" if name == "forward" else kind))
    return spans


def main():
    ranks = [last_step(file) for file in sys.argv[1:]]
    start = min(begin for spans in ranks for _, begin, _, _ in spans)
    length = max(end for spans in ranks for _, _, end, _ in spans) - start
    scale = (WIDTH - LEFT - 10) / length
    height = TOP + len(ranks) * (2 * ROW + GAP + 14) + 30
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" font-size="12">',
           f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
           '<text x="10" y="20" font-size="14">One step: gradients are computed (blue) while those of later layers are summed over the ranks (orange)</text>',
           f'<text x="10" y="40" fill="#555555">{len(ranks)} ranks, {length / 1000:.0f} ms from the first forward pass to the last sum</text>']
    y = TOP
    for rank, spans in enumerate(ranks):
        first = next(end for name, _, end, _ in spans if name == "layer 1")
        for line, kinds in enumerate((("forward", "compute"), ("network",))):
            out.append(f'<text x="10" y="{y + line * ROW + 18}">{"rank " + str(rank) + ": compute" if line == 0 else "all_reduce"}</text>')
            for name, begin, end, kind in spans:
                if kind not in kinds:
                    continue
                x, width = LEFT + (begin - start) * scale, max(1.0, (end - begin) * scale)
                # Sums overlap each other: each a little lower than the one before.
                shift = (int(name.split()[1]) - 1) % 3 * 7 if kind == "network" else 0
                tall = 10 if kind == "network" else ROW - 6
                out.append(f'<rect x="{x:.1f}" y="{y + line * ROW + shift:.1f}" width="{width:.1f}" height="{tall}" fill="{COLOURS[kind]}" '
                           f'stroke="#ffffff" stroke-width="0.5"><title>{name}: {(end - begin) / 1000:.1f} ms</title></rect>')
                if kind != "network" and width > 6.5 * len(name):
                    out.append(f'<text x="{x + 4:.1f}" y="{y + 16}" fill="#ffffff">{name}</text>')
        x = LEFT + (first - start) * scale
        out.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{y - 2}" y2="{y + 2 * ROW}" stroke="#b02020" stroke-dasharray="4 2"/>')
        y += 2 * ROW + GAP + 14
    out.append(f'<text x="10" y="{y + 8}" fill="#b02020">dashed: the first layer\'s gradient is there</text></svg>')
    print("\n".join(out))


if __name__ == "__main__":
    main()
