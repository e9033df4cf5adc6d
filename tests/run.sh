#!/usr/bin/env bash
# Builds hpcml and runs every test, on a bare Debian 12 machine (root or sudo): bash tests/run.sh
# What it does, in this order: packages, the release build with all tests (real Slurm included), beside them the core under
# AddressSanitizer, and the LibTorch part once more with the other LibTorch generation.
# bash tests/run.sh -R REGEX: only the release tests whose names match; neither AddressSanitizer nor the other LibTorch.
# At its end it lists the tests that could not run on this machine.
set -euo pipefail
repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$repo"
# shellcheck source=docs/setup.sh
. docs/setup.sh
started=$SECONDS
selection=()
# phase NAME: prints the processor time since the last phase ended.
processor_before=0
phase() {
  local now
  mkdir -p build
  times >build/processor-times
  now=$(awk 'NR == 2 { for (i = 1; i <= 2; ++i) { split($i, part, /[ms]/); sum += 60 * part[1] + part[2] } } END { printf "%d", sum }' build/processor-times)
  printf 'processor time: %s: %d s\n' "$1" $((now - processor_before))
  processor_before=$now
}
case $#,${1:-} in
  0,) ;;
  2,-R) selection=(-R "$2") ;;
  *) die "usage: bash tests/run.sh [-R REGEX]" ;;
esac

# The tests find what this script installs and nothing else: no program of /usr/local or of the user, and no Python package of
# theirs. A virtual environment with torch stays active, because it names the LibTorch to build with.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin PYTHONNOUSERSITE=1
unset PYTHONPATH PYTHONHOME PYTHONDONTWRITEBYTECODE CMAKE_PREFIX_PATH Torch_DIR
torch_folder=$(active_torch)
[ -n "$torch_folder" ] || unset VIRTUAL_ENV CONDA_PREFIX

say "this takes about 35 minutes on 2 cores: packages 1, release build 8, tests 16 with AddressSanitizer beside them, the second LibTorch and the rest 8"

install_packages "${core_packages[@]}" "${slurm_packages[@]}" "${torch_packages[@]}" "${data_packages[@]}" "${test_packages[@]}"

bash tests/sarif_schema.sh || die "the schema of SARIF could not be had: check the network"
if ! cat tests/requirements.txt docs/requirements.txt | cmp -s - build/venv-tests/complete; then
  { /usr/bin/python3 -m venv --clear build/venv-tests && build/venv-tests/bin/pip install -q --disable-pip-version-check --no-deps -r tests/requirements.txt -r docs/requirements.txt &&
    cat tests/requirements.txt docs/requirements.txt >build/venv-tests/complete; } || die "pip could not install tests/requirements.txt and docs/requirements.txt: check the network"
fi

# The build with the other LibTorch compiles the core once more, word for word: it finds it here.
export CCACHE_DIR=${CCACHE_DIR:-$repo/build/ccache} CCACHE_BASEDIR=$repo CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=pch_defines,time_macros
say "release build (LibTorch: ${torch_folder:-libtorch-dev of Debian})"
configure_and_build release
phase 'packages and release build'

# What tests/python_packages.hpp and tests/skip.hpp read. This script has installed what the tests need: what is missing is a fault.
export HPCML_TEST_PYTHON=$repo/build/venv-tests/bin/python HPCML_TESTS_REQUIRE_PACKAGES=1 HPCML_TESTS_SKIPPED=$repo/build/skipped-tests
export HPCML_TEST_TORCH_PYTHONS=/usr/bin/python3${torch_folder:+:${VIRTUAL_ENV:-$CONDA_PREFIX}/bin/python}
: >"$HPCML_TESTS_SKIPPED"
show_skipped() {
  [ -f "$HPCML_TESTS_SKIPPED" ] || return 0
  sort -u -o "$HPCML_TESTS_SKIPPED" "$HPCML_TESTS_SKIPPED"
  say "skipped $(wc -l <"$HPCML_TESTS_SKIPPED") tests or parts of them on this machine"
  cat "$HPCML_TESTS_SKIPPED"
  rm "$HPCML_TESTS_SKIPPED"
}
trap show_skipped EXIT
test_failed="a test failed; its output is above, and in build/release/Testing/Temporary/LastTest.log"
if [ ${#selection[@]} -gt 0 ]; then
  ctest --preset release -j3 --no-tests=error "${selection[@]}" || die "$test_failed"
  show_skipped
  say "the selected tests passed in $(((SECONDS - started) / 60)) minutes"
  exit
fi

# The layers that read foreign input. `.ci/full asan` covers the others that it can (launch agent util diag site_rules find_torch torchrun
# model affinity failures plan render cli): LeakSanitizer cannot follow processes into namespaces or through exec.
asan_folders=(store topo slurm shell config launch_chain node_health check import_script discover joblog)
asan_tests="^($(IFS='|'; echo "${asan_folders[*]}"))\$"

say "tests; beside them the core is built and tested under AddressSanitizer and UBSan (build/asan.log)"
# Tests with a real Slurm mostly wait: the others have the processors meanwhile. A group of its own, to end it as a whole.
# One build at a time: ranks that meet have deadlines.
set -m
(
  renice -n 10 "$BASHPID" >/dev/null
  exec 9>build/one-build.lock && flock 9
  configure_and_build asan "${asan_folders[@]/%/_tests}" && exec 9>&- && ctest --preset asan -j2 --no-tests=error -R "$asan_tests"
) >build/asan.log 2>&1 &
asan=$!
# The other LibTorch comes from the network, and its part is built, meanwhile.
build_with_other_torch() {
  if [ -n "$torch_folder" ]; then
    (unset VIRTUAL_ENV CONDA_PREFIX && cmake --preset release -B build/torch-other) || { echo "configuring with libtorch-dev failed"; return 1; }
  else
    # Not compiled here: of the 70 MB of Python in torch and its packages the tests import a part, and CMake's own import writes most of that.
    if [ ! -f build/venv-torch/complete ]; then
      if ! { /usr/bin/python3 -m venv --clear build/venv-torch && build/venv-torch/bin/pip install -q --no-compile torch==2.13.0; }; then
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
trap 'kill -- "-$asan" "-$other_torch" 2>/dev/null || true; show_skipped' EXIT
ctest --preset release -j4 --no-tests=error || die "$test_failed"
phase 'release tests'

other_name="torch 2.13.0 from pip"
[ -z "$torch_folder" ] || other_name="Debian's libtorch-dev"
say "the LibTorch part with $other_name"
wait "$other_torch" || {
  tail -n 50 build/torch-other.log
  die "building with the other LibTorch failed; its output is above, and in build/torch-other.log"
}
# Its tests mostly wait for ranks: what is left of the build and tests under AddressSanitizer has the processors meanwhile.
ctest --test-dir build/torch-other -j4 -R '^torch($|-)' --output-on-failure --no-tests=error || die "a test with the other LibTorch failed; its output is above"

say "the core under AddressSanitizer and UBSan"
wait "$asan" || {
  tail -n 200 build/asan.log
  die "a build or a test under AddressSanitizer failed; its output is above, and in build/asan.log"
}
tail -n 5 build/asan.log
# Both ran beside the release tests: what of them had ended by then counts there.
phase 'the other LibTorch and AddressSanitizer'

show_skipped
say "all tests passed in $(((SECONDS - started) / 60)) minutes, $processor_before s of processor time"
