# SPDX-License-Identifier: MIT
"""The goals of all benchmarks (goals.json), and the rows that a run writes: one JSON line each, into the file that HPCML_BENCH_ROWS names."""
import json
import os

GOALS = {row["id"]: row for row in json.load(open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "goals.json"), encoding="utf-8"))}


def goal_of(name):
    return GOALS[name]["goal"]


def is_met(name, value):
    return value <= goal_of(name)


def note(name, value, **more):
    """Keeps a result: `value` is in the goal's unit; `more` is what was measured on both sides. Returns "(goal 0.85: yes)"."""
    place = os.environ.get("HPCML_BENCH_ROWS")
    if place:
        with open(place, "a", encoding="utf-8") as rows:
            rows.write(json.dumps({"id": name, "value": value, **more}) + "\n")
    return f"(goal {goal_of(name):g}: {'yes' if is_met(name, value) else 'MISSED'})"
