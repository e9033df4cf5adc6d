#!/usr/bin/env bash
# What a rehearsal adds to the time of its job, in both forms of hpcml emulate: bash tests/bench/rehearsal.sh [path of hpcml]
# The goal is for a job of 13 s on a machine that does nothing else; exit code 1 if it is missed.
set -euo pipefail
hpcml=${1:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)/build/release/bin/hpcml}
hpcml=$(realpath -e -- "$hpcml")
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
printf '#!/bin/bash\n#SBATCH --nodes=2 --ntasks-per-node=1 --time=5 --output=job.out\nsleep 13\n' >job.sh
missed=0
# measure NAME COMMAND...
measure() {
  local name=$1 began=$EPOCHREALTIME tenths
  shift
  "$@" >log 2>&1 || { cat log; exit 1; }
  tenths=$(((${EPOCHREALTIME/./} - ${began/./} + 50000) / 100000))
  printf 'a job of 13 s takes %d.%d s in %s (goal: 15 s)\n' $((tenths / 10)) $((tenths % 10)) "$name"
  ((tenths <= 150)) || missed=1
}
measure 'hpcml emulate job.sh' "$hpcml" emulate --site generic --nodes 2 job.sh
measure 'hpcml emulate -- sbatch -W job.sh' "$hpcml" emulate --site generic --nodes 2 -- sbatch -W job.sh
exit "$missed"
