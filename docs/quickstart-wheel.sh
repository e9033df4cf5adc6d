#!/usr/bin/env bash
# From a wheel to a script that is checked and rehearsed, with a stopwatch: bash docs/quickstart-wheel.sh WHEEL
# On a bare Debian 12 or Ubuntu (root, or sudo for the packages): Python's venv, the wheel, the script for two LUMI nodes, what check says of it, and its
# rehearsal on a real Slurm, whose packages are installed for that. Nothing is compiled.
set -euo pipefail
repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=docs/setup.sh
. "$repo/docs/setup.sh"
if [ "$#" -ne 1 ] || [ ! -f "$1" ]; then
  die "usage: bash docs/quickstart-wheel.sh hpcml-….whl (a file of a release; bash cmake/release/build.sh makes them)"
fi
wheel=$(realpath -e -- "$1")
work=$(mktemp -d "${TMPDIR:-/tmp}/hpcml-quickstart.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"

laps=() last=$(date +%s%N)
lap() {
  local now
  now=$(date +%s%N)
  laps+=("$(printf '%3d.%d s  %s' $(((now - last) / 1000000000)) $((((now - last) / 100000000) % 10)) "$1")")
  last=$now
}
begun=$last

install_packages python3 python3-venv
lap "Python's venv, from Debian"
say "1. the wheel"
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --no-index --disable-pip-version-check "$wheel" || die "pip does not take $wheel; docs/getting-started/installation.md says which one it wants"
export PATH=$work/venv/bin:$PATH
hpcml --version
lap "the wheel in an environment of its own"

say "2. the script: hpcml gen --site lumi --nodes 2 --gpus-per-node 8 --account project_1 --time 10 -o job.sh -- python3 train.py"
cat >train.py <<'PYTHON'
import os
print("rank", os.environ["RANK"], "of", os.environ["WORLD_SIZE"], "on", os.uname().nodename, "GPU", os.environ["ROCR_VISIBLE_DEVICES"])
PYTHON
hpcml gen --site lumi --nodes 2 --gpus-per-node 8 --account project_1 --time 10 -o job.sh -- python3 train.py
lap "the script"
say "3. what is wrong with it: hpcml check --site lumi job.sh"
hpcml check --site lumi job.sh
lap "check"

install_packages "${slurm_packages[@]}"
lap "Slurm's packages, from Debian"
say "4. the rehearsal: hpcml emulate job.sh"
hpcml emulate job.sh >rehearsal.log || die "the rehearsal failed: $(cat rehearsal.log)"
grep '^rank' rehearsal.log | sort -V
[ "$(grep -c '^rank' rehearsal.log)" -eq 16 ] || die "not all 16 ranks have run: $(cat rehearsal.log)"
lap "the rehearsal"

say "the stopwatch"
printf '%s\n' "${laps[@]}"
printf '%3d.%d s  from a bare machine to a rehearsed script\n' $(((last - begun) / 1000000000)) $((((last - begun) / 100000000) % 10))
