#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# All that needs a GPU, on a bare machine with torch for GPUs, a compiler, CMake, ninja and no network: tests/gpu/run.sh [PAGE [CHECK...]]
# hpcml itself is brought along: HPCML, else build/gpu/hpcml, which `cmake/release/build.sh` makes (build/release-files/hpcml-x86_64).
# Writes PAGE (build/gpu.md) with date, driver and figures.
set -euo pipefail
repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
page=${1:-$repo/build/gpu.md}
hpcml=${HPCML:-$repo/build/gpu/hpcml}
work=$repo/build/gpu-checks
[ -x "$hpcml" ] || {
  echo "there is no program $hpcml: name one with HPCML, of cmake/release/build.sh" >&2
  exit 1
}
python=$(command -v python3) || {
  echo "there is no python3 in PATH: the one with torch is needed" >&2
  exit 1
}
mkdir -p "$work"
export XDG_CACHE_HOME=$work/cache
start=$SECONDS
"$hpcml" torch build --jobs "$(nproc)"
echo "hpcml torch build: $((SECONDS - start)) s"
start=$SECONDS
cmake -S "$repo/tests/gpu" -B "$work/build" -G Ninja -DCMAKE_PREFIX_PATH="$("$hpcml" torch build --prefix)" >"$work/cmake.log" || {
  cat "$work/cmake.log" >&2
  exit 1
}
cmake --build "$work/build" >"$work/build.log" || {
  tail -n 60 "$work/build.log" >&2
  exit 1
}
echo "the checks' programs: $((SECONDS - start)) s"
"$python" "$repo/tests/gpu/checks.py" "$hpcml" "$work/build" "$page" "${@:2}"
