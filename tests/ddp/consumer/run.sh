#!/usr/bin/env bash
# Installs what programs are built with, moves it, and builds and runs one there; then the same without LibTorch: run.sh BUILD
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=$(cd "$1" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/hpcml-consumer.XXXXXX")
trap 'rm -rf "$work"' EXIT
fail() {
  printf 'FAILED: %s\n' "$*" >&2
  exit 1
}

# install_moved BUILD PREFIX: by way of another directory
install_moved() {
  cmake --install "$1" --component development --prefix "$work/first" >"$work/install.log" || fail "installing: $(cat "$work/install.log")"
  grep -rqF -e "$work" -e "$build" "$work/first" --include='*.cmake' && fail "the package names a directory of this machine"
  mv "$work/first" "$2"
}

install_moved "$build" "$work/with torch"
cmake -S "$here" -B "$work/program" -G Ninja -DCMAKE_PREFIX_PATH="$work/with torch" >"$work/log" 2>&1 || fail "configuring: $(cat "$work/log")"
cmake --build "$work/program" >"$work/log" 2>&1 || fail "building: $(cat "$work/log")"
said=$("$build/bin/hpcml" launch --nproc-per-node 2 -- "$work/program/consumer")
for rank in 0 1; do
  grep -qF "rank $rank: y = 3.000 x + 1.000" <<<"$said" || fail "rank $rank found another line: $said"
done
echo "a program, built with what was installed and moved, trains on two ranks"

cmake -S "$here/../../.." -B "$work/core" -G Ninja -DHPCML_TORCH=OFF -DBUILD_TESTING=OFF >"$work/log" 2>&1 || fail "configuring without LibTorch: $(cat "$work/log")"
install_moved "$work/core" "$work/without"
[ ! -e "$work/without/include/hpcml/ddp" ] || fail "headers of hpcml::ddp are installed without its library"
mkdir "$work/plain"
cat >"$work/plain/CMakeLists.txt" <<'EOF'
cmake_minimum_required(VERSION 3.16)
project(plain LANGUAGES CXX)
find_package(hpcml REQUIRED OPTIONAL_COMPONENTS ddp)
if(hpcml_ddp_FOUND)
  message(FATAL_ERROR "hpcml::ddp is not there and was found")
endif()
add_executable(plain main.cpp)
target_link_libraries(plain PRIVATE hpcml::headers)
EOF
printf '#include <hpcml/rank_env.hpp>\nint main() { return hpcml::RankEnv::from_environment().rank; }\n' >"$work/plain/main.cpp"
cmake -S "$work/plain" -B "$work/plain/build" -G Ninja -DCMAKE_PREFIX_PATH="$work/without" >"$work/log" 2>&1 || fail "a program without ddp: $(cat "$work/log")"
cmake --build "$work/plain/build" >"$work/log" 2>&1 || fail "building a program without ddp: $(cat "$work/log")"
rc=0
RANK=3 WORLD_SIZE=4 MASTER_ADDR=x MASTER_PORT=1 "$work/plain/build/plain" || rc=$?
[ "$rc" -eq 3 ] || fail "the program without ddp ends with $rc"
rc=0
cmake -S "$here" -B "$work/missing" -G Ninja -DCMAKE_PREFIX_PATH="$work/without" >"$work/log" 2>&1 || rc=$?
[ "$rc" -ne 0 ] || fail "hpcml::ddp is not there, and nothing is said"
tr -s ' \n' ' ' <"$work/log" | grep -qF 'was built without LibTorch, so it has no hpcml::ddp' || fail "no reason is given: $(cat "$work/log")"
echo "without LibTorch the headers serve, and who asks for hpcml::ddp is told why it is not there"
