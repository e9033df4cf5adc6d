#!/usr/bin/env bash
# Start-up cost of hpcml beside an empty C program, in one run: bash tests/bench/startup.sh [path of hpcml]
# The goals are of processor time, which other programs on the machine change little; exit code 1 where one is missed.
set -euo pipefail
hpcml=${1:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)/build/release/bin/hpcml}
hpcml=$(realpath -e -- "$hpcml")
command -v hyperfine >/dev/null || { echo "hyperfine is missing: apt-get install hyperfine"; exit 1; }
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
echo 'int main(void) { return 0; }' | "${CC:-cc}" -O2 -x c -o "$directory/linked" -
# Copies, as installed programs are: a linker writes its file in no order, which leaves it in small pieces in the page cache that take longer to map.
cp -- "$directory/linked" "$directory/empty"
cp -- "$hpcml" "$directory/hpcml"
hpcml=$directory/hpcml
gen="gen --site lumi --nodes 2 --account project_1 --time 10 -- python train.py"
cd "$directory" # without a job file
HOME=$directory hyperfine -N --warmup 20 --runs "${RUNS:-300}" --style none --export-json results.json \
  ./empty "$hpcml --version" "$hpcml $gen" "$hpcml sites list" "$hpcml launch -- ./empty" "$hpcml launch --site lumi -- ./empty" >log 2>&1 || { cat log; exit 1; }
python3 - <<'PYTHON'
import json, sys

rows = json.load(open("results.json"))["results"]
cpu = [(row["user"] + row["system"]) * 1e3 for row in rows]
for row, milliseconds in zip(rows, cpu):
    name = row["command"].split("/")[-1] if row is rows[0] else "hpcml " + row["command"].split(" ", 1)[1]
    print("%-82s cpu %6.2f ms  %5.1f x empty   wall, median %6.2f ms" % (name, milliseconds, milliseconds / cpu[0], row["median"] * 1e3))
goals = [
    ("gen costs at most 1.5 ms more than --version", cpu[2] - cpu[1], 1.5, "ms"),
    ("gen costs at most 5 times an empty C program", cpu[2] / cpu[0], 5.0, "times"),
    ("sites list costs less than 15 ms", cpu[3], 15.0, "ms"),
]
for goal, value, most, unit in goals:
    print("%-44s %5.2f %s: %s" % (goal, value, unit, "yes" if value <= most else "NO"))
met = sum(value <= most for _, value, most, _ in goals)
print(f"start-up: {met} of {len(goals)} goals are met")
sys.exit(met < len(goals))
PYTHON
