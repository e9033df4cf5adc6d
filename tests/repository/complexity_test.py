#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The cyclomatic complexity of functions in src/ and include/, as lizard counts it, against a limit.

Functions over the limit are listed in complexity.csv with their counts. The list may only shrink: a new function over the limit, a
higher count, and a line that no longer applies fail. `complexity_test.py --update` removes and lowers lines, and adds none.
"""
import csv
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python"))
import skip  # noqa: E402

REPO = pathlib.Path(__file__).resolve().parents[2]
LIST = REPO / "tests/repository/complexity.csv"
LIMIT = 15


def measure():
    """Returns {(file, function): complexity} of the functions over the limit; overloads count as one, with the highest."""
    found = {}
    paths = sorted(str(path) for root in ("src", "include") for kind in ("*.cpp", "*.hpp") for path in (REPO / root).rglob(kind))
    for result in lizard.analyze_files(paths, threads=os.cpu_count() or 1):
        file = os.path.relpath(result.filename, REPO)
        for function in result.function_list:
            if function.cyclomatic_complexity > LIMIT:
                key = (file, function.name)
                found[key] = max(found.get(key, 0), function.cyclomatic_complexity)
    return found


def read_list():
    with open(LIST, encoding="utf-8", newline="") as file:
        return {(row["file"], row["function"]): int(row["complexity"]) for row in csv.DictReader(file)}


def write_list(rows):
    with open(LIST, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("file", "function", "complexity"))
        writer.writerows((file_name, function, count) for (file_name, function), count in sorted(rows.items()))


def compare(found, listed):
    """Returns what is wrong, one line each."""
    wrong = []
    for key, count in sorted(found.items()):
        file, function = key
        if key not in listed:
            wrong.append(f"{file}: {function} has complexity {count}, the limit is {LIMIT}")
        elif count > listed[key]:
            wrong.append(f"{file}: {function} has complexity {count}, more than the {listed[key]} in {LIST.name}")
        elif count < listed[key]:
            wrong.append(f"{file}: {function} has complexity {count}, less than the {listed[key]} in {LIST.name}: run with --update")
    wrong += [f"{file}: {function} is listed in {LIST.name} and is within the limit or gone: run with --update"
              for file, function in sorted(listed.keys() - found.keys())]
    return wrong


def check_compare():
    """A comparison that finds nothing would pass whatever the sources have."""
    a, b = ("src/a.cpp", "f"), ("src/b.cpp", "g")
    assert compare({a: 20}, {a: 20}) == []
    for found, listed in (({a: 16}, {}), ({a: 21}, {a: 20}), ({a: 19}, {a: 20}), ({}, {a: 20}), ({b: 20}, {a: 20})):
        assert compare(found, listed), (found, listed)


def main():
    check_compare()
    found = measure()
    listed = read_list()
    if sys.argv[1:] == ["--update"]:
        write_list({key: min(found[key], count) for key, count in listed.items() if key in found})
        listed = read_list()
    wrong = compare(found, listed)
    print("\n".join(wrong) if wrong else f"{len(found)} functions have a complexity over {LIMIT}, none more than listed")
    return 1 if wrong else 0


if __name__ == "__main__":
    try:
        import lizard
    except ImportError:
        skip.report_missing("repository-complexity", "lizard")
        sys.exit(0)
    sys.exit(main())
