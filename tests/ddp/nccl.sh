#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What speaks NCCL is compiled and linked against a CUDA build of torch, on any machine, and what was built trains over Gloo; the GPU's own
# part is tried where there is one. nccl.sh BUILD: which has ddp_tests; VIRTUAL_ENV: with that torch and the headers that it includes.
set -euo pipefail
repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
tests=$(cd "$1" && pwd)/bin/ddp_tests
build=$repo/build/nccl
fail() {
  printf 'FAILED: %s\n' "$*" >&2
  exit 1
}

rm -f "$build/CMakeCache.txt"
said=$(cmake -S "$repo" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release) || fail "configuring: $said"
grep -qxF -- "-- NCCL: on (cuda)" <<<"$said" || fail "NCCL is not on: $(grep -- '-- NCCL' <<<"$said")"
cmake --build "$build" --target hpcml-torch ddp_rank
info=$("$build/libexec/hpcml/hpcml-torch" info)
grep -qF '"nccl":true' <<<"$info" || fail "the program that was built knows no NCCL: $info"
HPCML_BACKEND=gloo HPCML_DDP_RANK=$build/bin/ddp_rank "$tests" \
  "gradients and weights*,what each of four*,two stages*,the last layer*,a rank that is killed*"
echo "NCCL's code is built against LibTorch $(sed -n 's/.*"torch":"\([^"]*\)".*/\1/p' <<<"$info"); what was built trains over Gloo"
