#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws the last step of traces that `ddp_rank overlap --trace FILE` wrote, one file per rank: overlap_picture.py FILE.0 FILE.1 > picture.svg"""
import json
import sys

WIDTH, LEFT, ROW, TOP = 400, 12, 22, 64
STYLE = """
  .sheet { fill: #fff } text { fill: #222; font: 12px sans-serif } .head { font-weight: bold } .note { fill: #52606d }
  .compute { fill: #4878a8 } .network { fill: #d8843c } .first { stroke: #b02020; stroke-dasharray: 4 2 }
  rect { stroke: #fff; stroke-width: 0.5 } .layer { fill: #fff }
  @media (prefers-color-scheme: dark) {
    .sheet { fill: #1e2129 } text { fill: #e4e7eb } .note { fill: #b8c1cc } .first { stroke: #ff8a80 } rect { stroke: #1e2129 }
  }
"""


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


def draw(ranks):
    """Returns a picture of the backward pass and of the sums, from the spans of each rank."""
    start = min(begin for spans in ranks for _, begin, _, kind in spans if kind == "compute")
    length = max(end for spans in ranks for _, _, end, _ in spans) - start
    scale = (WIDTH - 2 * LEFT) / length
    height = TOP + len(ranks) * 4 * ROW + 14
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}">', f"<style>{STYLE}</style>",
           f'<rect width="{WIDTH}" height="{height}" rx="8" class="sheet"/>', f'<text x="{LEFT}" y="22" class="head">Backward pass of one step</text>',
           f'<text x="{LEFT}" y="40" class="note">{len(ranks)} ranks, {length / 1000:.0f} ms. Dashed: all gradients are computed.</text>']
    for rank, spans in enumerate(ranks):
        y = TOP + rank * 4 * ROW
        first = LEFT + (next(end for name, _, end, _ in spans if name == "layer 1") - start) * scale
        out.append(f'<text x="{LEFT}" y="{y + 14}">rank {rank}: gradients of the layers</text>')
        out.append(f'<text x="{LEFT}" y="{y + 2 * ROW + 14}">rank {rank}: all_reduce of the buckets</text>')
        for name, begin, end, kind in spans:
            if kind == "forward":
                continue
            x, width = LEFT + (begin - start) * scale, max(1.0, (end - begin) * scale)
            top = y + ROW * (3 if kind == "network" else 1)
            out.append(f'<rect x="{x:.1f}" y="{top - 4}" width="{width:.1f}" height="{ROW - 4}" class="{kind}">'
                       f"<title>{name}: {(end - begin) / 1000:.1f} ms</title></rect>")
            if kind == "compute":
                out.append(f'<text x="{x + 5:.1f}" y="{top + 9}" class="layer">{name.split()[-1]}</text>')
        out.append(f'<line x1="{first:.1f}" x2="{first:.1f}" y1="{y + ROW - 6}" y2="{y + 4 * ROW - 4}" class="first"/>')
    return "\n".join([*out, "</svg>"]) + "\n"


def main():
    sys.stdout.write(draw([last_step(file) for file in sys.argv[1:]]))


if __name__ == "__main__":
    main()
