#!/usr/bin/env bash
# Start-up cost of hpcml as ratios to /bin/true in one run: bash tests/bench/startup.sh [path of hpcml]
set -euo pipefail
hpcml=${1:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)/build/release/bin/hpcml}
command -v hyperfine >/dev/null || { echo "hyperfine is missing: apt-get install hyperfine"; exit 1; }
results=$(mktemp)
trap 'rm -f "$results"' EXIT
hyperfine -N --warmup 20 --runs 300 --style none --export-json "$results" \
  /bin/true "$hpcml --version" "$hpcml launch -- /bin/true" "$hpcml launch --site lumi -- /bin/true" >/dev/null 2>&1
python3 -c '
import json, sys
rows = json.load(open(sys.argv[1]))["results"]
base = rows[0]["median"]
for row in rows:
    print("%-60s median %6.2f ms  %5.1f x true" % (row["command"].split("/")[-1] if row is rows[0] else "hpcml " + row["command"].split(" ", 1)[1], row["median"] * 1e3, row["median"] / base))
' "$results"
