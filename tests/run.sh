#!/usr/bin/env bash
# Builds hpcml and runs every test, on a bare Debian 12 machine (root or sudo): bash tests/run.sh
# What it does, in this order: packages, the release build with all tests (real Slurm included), beside them the core under
# AddressSanitizer, and the LibTorch part once more with the other LibTorch generation.
set -euo pipefail
repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$repo"
# shellcheck source=docs/setup.sh
. docs/setup.sh
started=$SECONDS
say "this takes about 34 minutes on 2 cores: packages 1, release build 8, tests 22 with AddressSanitizer beside them, the second LibTorch 3"

install_packages "${core_packages[@]}" "${slurm_packages[@]}" "${torch_packages[@]}" "${data_packages[@]}" "${test_packages[@]}"

bash tests/sarif_schema.sh || die "the schema of SARIF could not be had: check the network"

# The build with the other LibTorch compiles the core once more, word for word: it finds it here.
export CCACHE_DIR=$repo/build/ccache CCACHE_BASEDIR=$repo CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=pch_defines,time_macros
torch_folder=$(active_torch)
say "release build (LibTorch: ${torch_folder:-libtorch-dev of Debian})"
configure_and_build release
# The layers that read what people write, up to the script and the command line. What becomes or starts ranks and nodes is
# covered by the release run: LeakSanitizer cannot follow processes into namespaces or through exec.
asan_folders=(util store model diag topo affinity slurm shell spec chain site plan render check port launch agent discover cli)

asan_tests="^($(IFS='|'; echo "${asan_folders[*]/launch/launch-pure}")|render-hostile)\$"

say "tests; beside them the core is built and tested under AddressSanitizer and UBSan (build/asan.log)"
# Tests with a real Slurm mostly wait: the others have the processors meanwhile. A group of its own, to end it as a whole.
# One build at a time: ranks that meet have deadlines.
set -m
(
  renice -n 10 "$BASHPID" >/dev/null
  exec 9>build/one-build.lock && flock 9
  configure_and_build asan hpcml "${asan_folders[@]/%/_tests}" && exec 9>&- && ctest --preset asan -j2 --no-tests=error -R "$asan_tests"
) >build/asan.log 2>&1 &
asan=$!
# The other LibTorch comes from the network, and its part is built, meanwhile.
build_with_other_torch() {
  if [ -n "$torch_folder" ]; then
    (unset VIRTUAL_ENV CONDA_PREFIX && cmake --preset release -B build/torch-other) || { echo "configuring with libtorch-dev failed"; return 1; }
  else
    if [ ! -f build/venv-torch/complete ]; then
      if ! { /usr/bin/python3 -m venv --clear build/venv-torch && build/venv-torch/bin/pip install -q torch==2.13.0; }; then
        echo "pip could not install torch==2.13.0: check the network, and that python3-venv is installed"
        return 1
      fi
      touch build/venv-torch/complete
    fi
    VIRTUAL_ENV=$repo/build/venv-torch cmake --preset release -B build/torch-other || { echo "configuring with torch 2.13.0 failed"; return 1; }
  fi
  flock build/one-build.lock cmake --build build/torch-other --target torch_tests
}
(
  renice -n 10 "$BASHPID" >/dev/null
  build_with_other_torch
) >build/torch-other.log 2>&1 &
other_torch=$!
set +m
trap 'kill -- "-$asan" "-$other_torch" 2>/dev/null || true' EXIT
ctest --preset release -j3 --no-tests=error || die "a test failed; its output is above, and in build/release/Testing/Temporary/LastTest.log"

other_name="torch 2.13.0 from pip"
[ -z "$torch_folder" ] || other_name="Debian's libtorch-dev"
say "the LibTorch part with $other_name"
wait "$other_torch" || {
  tail -n 50 build/torch-other.log
  die "building with the other LibTorch failed; its output is above, and in build/torch-other.log"
}
# Its tests mostly wait for ranks: what is left of the build and tests under AddressSanitizer has the processors meanwhile.
ctest --test-dir build/torch-other -j3 -R '^torch($|-)' --output-on-failure --no-tests=error || die "a test with the other LibTorch failed; its output is above"

say "the core under AddressSanitizer and UBSan"
wait "$asan" || {
  tail -n 200 build/asan.log
  die "a build or a test under AddressSanitizer failed; its output is above, and in build/asan.log"
}
tail -n 5 build/asan.log

say "all tests passed in $(((SECONDS - started) / 60)) minutes"
