#!/usr/bin/env bash
# hpcml beside others that do the same, in one run: bash tests/bench/run.sh [--quick] [PART...]   (gen check affinity launch store emulate ddp)
# Prints a table; build/bench has it as JSON, as a plot and as docs/development/benchmarks.md (HPCML_BENCH_WRITE=1 puts page and plot there). Exit code 1
# where a goal of tests/bench/goals.json is missed. Root, Debian 12, the network for packages; about 15 minutes on 2 cores, which should do nothing else.
# HPCML_BENCH_BUILD: a build with LibTorch 2.13 that has hpcml and ddp_step already; HPCML_BENCH_TORCH: the Python environment that it was built with.
set -euo pipefail
repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$repo"
# shellcheck source=docs/setup.sh
. docs/setup.sh
torch=${HPCML_BENCH_TORCH:-$repo/build/venv-torch}
build=${HPCML_BENCH_BUILD:-$repo/build/bench-build}
peers=$repo/build/venv-peers
install_packages "${core_packages[@]}" "${slurm_packages[@]}" "${test_packages[@]}"
[ -x "$torch/bin/torchrun" ] || { /usr/bin/python3 -m venv --clear "$torch" && "$torch/bin/pip" install -q torch==2.13.0; }
[ -f "$peers/complete" ] || {
  /usr/bin/python3 -m venv --clear "$peers" && "$peers/bin/pip" install -q hpc-launcher submitit reframe-hpc simple-slurm torchx && touch "$peers/complete"
}
if [ -z "${HPCML_BENCH_BUILD:-}" ]; then
  VIRTUAL_ENV=$torch cmake --preset release -B "$build" && cmake --build "$build" --target hpcml ddp_step
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# A copy, as installed programs are: a linker leaves its file in small pieces in the page cache, which take longer to map.
cp "$build/bin/hpcml" "$work/hpcml"
code=0
python3 tests/bench/side_by_side.py --hpcml "$work/hpcml" --peers "$peers/bin" --torch "$torch/bin" --ddp-step "$build/bin/ddp_step" --out build/bench "$@" || code=$?
if [ -n "${HPCML_BENCH_WRITE:-}" ]; then cp build/bench/benchmarks.md build/bench/benchmarks.svg docs/development/; fi
exit "$code"
