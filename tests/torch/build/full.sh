#!/usr/bin/env bash
# `hpcml torch build` as a user would, with a compiler and nothing else in PATH: full.sh HPCML [VIRTUALENV...]
# Without a virtualenv, and first of all, for the distribution's libtorch-dev. The last line is the result.
# Where ch-run is in PATH (Charliecloud), also in an image made of this machine's own files.
set -euo pipefail
hpcml=$(realpath "$1")
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/tools" "$work/bin"
for tool in c++ as ld; do ln -s "$(command -v "$tool")" "$work/tools/$tool"; done
cp "$hpcml" "$work/bin/hpcml" # without the helper that a build has beside it
unset CXX VIRTUAL_ENV CONDA_PREFIX CMAKE_PREFIX_PATH Torch_DIR PYTHONPATH
results=()

fail() {
  echo "$*"
  exit 1
}

# What a program of the library's users may look like
cat >"$work/sum.cpp" <<'END'
#include <cstdio>
#include <hpcml/ddp/distributed_data_parallel.hpp>
#include <torch/torch.h>

int main() {
  auto group = hpcml::ddp::init_process_group();
  auto tensor = torch::full({1}, group->rank() + 1.0);
  group->all_reduce(tensor).wait();
  torch::nn::Linear layer(4, 1);
  hpcml::ddp::DistributedDataParallel<torch::nn::LinearImpl> model(layer.ptr(), group);
  model.forward(torch::ones({2, 4})).sum().backward();
  const double gradient = layer->weight.grad().sum().item<double>();
  if (group->rank() == 0) std::printf("sum %g, gradient %g\n", tensor.item<double>(), gradient);
}
END

# The program of the guide
# shellcheck disable=SC2016 # the backquotes are those of Markdown
sed -n '/^```cpp$/,/^```$/p' "$(dirname "$0")/../../../docs/guides/train-in-cpp.md" | sed '/^```$/q' | sed '/^```/d' >"$work/train.cpp"
grep -q 'int main' "$work/train.cpp" || fail "docs/guides/train-in-cpp.md begins with another block"

cat >"$work/files.cpp" <<'END'
#include <ATen/Version.h>
#include <cstdio>
#include <filesystem>
#include <sstream>

int main(int, char** words) {
  const std::filesystem::path directory = words[1];
  std::filesystem::create_directories(directory / "inner");
  std::size_t length = 0;
  for (int i = 0; i < 1000; ++i) {
    std::ostringstream text;
    text << at::show_config();
    length += text.str().size();
  }
  const auto removed = std::filesystem::remove_all(directory);
  if (length > 0) std::printf("%d removed\n", static_cast<int>(removed));
}
END

mkdir "$work/project"
cat >"$work/project/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.16)
project(sum LANGUAGES CXX)
find_package(hpcml 0.1 REQUIRED COMPONENTS ddp)
add_executable(sum ../sum.cpp)
target_link_libraries(sum PRIVATE hpcml::ddp)
END

seconds_of() {
  local start=$EPOCHREALTIME
  "$@" >/dev/null
  echo "$EPOCHREALTIME $start" | awk '{printf "%.3f", $1 - $2}'
}

# One torch: VIRTUAL_ENV is set or not
try_torch() {
  local name again best=9 flags
  export XDG_CACHE_HOME=$work/cache-$1
  local build=(env "PATH=$work/tools" "$work/bin/hpcml" torch build)
  "${build[@]}"
  name=$("${build[@]}" --format json | sed -n 's/.*"torch":"\([^"]*\)".*/\1/p')
  for _ in 1 2 3 4 5; do
    again=$(seconds_of "${build[@]}")
    best=$(printf '%s\n%s\n' "$best" "$again" | sort -g | head -n 1)
  done
  awk -v t="$best" 'BEGIN {exit !(t <= 0.1)}' || fail "a call that finds it built took $best s"
  [ -z "$(find "$XDG_CACHE_HOME" -name '.building-*')" ] || fail "a directory of the build was left"
  grep -q "^/.*/libtorch_cpu.so [0-9]* [0-9]*\$" "$XDG_CACHE_HOME"/hpcml/torch/torch-*/built-for || fail "the build does not say what it is for"
  "$work/bin/hpcml" preflight --nproc-per-node 2 --backend gloo >"$work/out" 2>"$work/err" || fail "$(cat "$work/out" "$work/err")"
  ! grep -q 'checks run in' "$work/err" || fail "the preflight did not take what was built: $(cat "$work/err")"
  read -ra flags < <("${build[@]}" --flags)
  c++ "$work/sum.cpp" "${flags[@]}" -o "$work/sum"
  "$work/bin/hpcml" launch --nproc-per-node 2 -- "$work/sum" >"$work/out"
  grep -q 'sum 3, gradient 8' "$work/out" || fail "the program's ranks did not sum right: $(cat "$work/out")"
  c++ "$work/train.cpp" "${flags[@]}" -o "$work/train"
  for step in 0 20; do # the second start resumes where the first one has ended
    HPCML_CHECKPOINT_DIR=$work/checkpoints-$1 "$work/bin/hpcml" launch --nproc-per-node 2 -- "$work/train" >"$work/out"
    [ "$(grep -c "of 2, from step $step: weight" "$work/out")" = 2 ] || fail "the guide's program did not begin at step $step: $(cat "$work/out")"
  done
  if command -v cmake >/dev/null; then
    cmake -S "$work/project" -B "$work/build-$1" -DCMAKE_PREFIX_PATH="$("${build[@]}" --prefix)" >"$work/out" || fail "$(cat "$work/out")"
    cmake --build "$work/build-$1" >"$work/out" 2>&1 || fail "$(cat "$work/out")"
    "$work/bin/hpcml" launch --nproc-per-node 2 -- "$work/build-$1/sum" >"$work/out"
    grep -q 'sum 3, gradient 8' "$work/out" || fail "the ranks of CMake's program did not sum right: $(cat "$work/out")"
  fi
  results+=("torch $name built in $(sed -n 's/.*"seconds":\([0-9.]*\).*/\1/p' "$XDG_CACHE_HOME"/hpcml/torch/torch-*/build.json) s, again $best s")
}

# A compiler that has the C++ library as an archive only, as one that was moved may: no second one gets into a process, and a user's
# std::filesystem is the shared one's
try_archive() {
  local flags program
  mkdir -p "$work/archive"
  ln -sf "$(c++ -print-file-name=libstdc++.a)" "$work/archive/libstdc++.a"
  printf '#!/bin/sh\nexec "%s" "-L%s" "$@"\n' "$(command -v c++)" "$work/archive" >"$work/archive/c++"
  chmod +x "$work/archive/c++"
  export XDG_CACHE_HOME=$work/cache-archive-$1
  CXX=$work/archive/c++ "$work/bin/hpcml" torch build
  read -ra flags < <(CXX=$work/archive/c++ "$work/bin/hpcml" torch build --flags)
  "$work/archive/c++" "$work/files.cpp" "${flags[@]}" -o "$work/files"
  for program in "$work/files" "$XDG_CACHE_HOME"/hpcml/torch/torch-*/{hpcml-torch,lib/libhpcml_ddp.so}; do
    readelf -dW "$program" | grep NEEDED | sed -n 1p | grep -q 'libstdc++\.so\.6' || fail "$program does not ask the shared C++ library first"
  done
  [ "$("$work/files" "$work/directory")" = "2 removed" ] || fail "a program that removes a directory and asks torch how it was built did not end well"
  "$work/bin/hpcml" preflight --nproc-per-node 2 --backend gloo >"$work/out" 2>"$work/err" || fail "$(cat "$work/out" "$work/err")"
  results+=("with the C++ library as an archive only")
}

# An image of this machine's files, by hard links; ch-run enters it without rights
try_image() {
  local image=$1/image
  mkdir -p "$image"/{dev,proc,sys,tmp,home,root,mnt,var}
  cp -al /usr "$image/usr" 2>/dev/null || cp -a /usr "$image/usr"
  cp -a /etc "$image/etc"
  for link in bin sbin lib lib64; do ln -s "usr/$link" "$image/$link"; done
  export XDG_CACHE_HOME=$1/cache USER=${USER:-$(id -un)}
  "$work/bin/hpcml" torch build --container "$image"
  "$work/bin/hpcml" torch build --container "$image" | grep -q 'ok: it was built before' || fail "in the image it was built twice"
  grep -q "^$image [0-9]" "$XDG_CACHE_HOME"/hpcml/torch/torch-*/built-for || fail "the image's build does not say that it is the image's"
  ch-run --bind="$XDG_CACHE_HOME/hpcml/torch:/mnt" "$image" -- sh -c '/mnt/torch-*/hpcml-torch info' || fail "the image's helper does not start in it"
  results+=("in an image by ch-run")
}

try_torch system
try_archive system
for environment in "$@"; do
  [ -x "$environment/bin/python" ] || fail "$environment is not a virtual environment"
  export VIRTUAL_ENV=$environment
  try_torch "$(basename "$environment")"
  try_archive "$(basename "$environment")"
  unset VIRTUAL_ENV
done
if command -v ch-run >/dev/null; then
  image_work=$(mktemp -d -p /var/tmp) # hard links reach no further than one file system, and /tmp may be another
  trap 'rm -rf "$work" "$image_work"' EXIT
  try_image "$image_work"
fi
printf -v line '%s; ' "${results[@]}"
echo "${line%; }"
