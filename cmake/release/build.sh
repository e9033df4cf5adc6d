#!/usr/bin/env bash
# Builds what strangers install, for any Linux with glibc 2.28 or later: cmake/release/build.sh [x86_64|aarch64|all]   (default: all)
# Into HPCML_RELEASE_FILES (build/release-files): the program for each processor, archives, Debian packages, wheels, the sources with the
# headers they need, BUILD-INFO and SHA256SUMS. The same commit gives the same bytes, whatever the directory.
# Needs Debian 12 or later, and the network for packages and the compiler (pip); HPCML_RELEASE_TOOLS names a directory that has it already.
set -euo pipefail
repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$repo"
# shellcheck source=docs/setup.sh
. docs/setup.sh
# shellcheck source=cmake/release/pack.sh
. cmake/release/pack.sh

zig_version=0.17.1
# The source of pugixml, which Debian has as a library for its own C++ runtime only: the Python package's archive holds it.
pugixml_package='pugixml==0.8.0 --hash=sha256:0f05bee514c59f76892f12c5dfc8270a09909f1d7730218540ce3aca3188ae92'
case ${1:-all} in
  all) archs=(x86_64 aarch64) ;;
  x86_64 | aarch64) archs=("$1") ;;
  *) die "usage: $0 [x86_64|aarch64|all]" ;;
esac
out=${HPCML_RELEASE_FILES:-$repo/build/release-files}
work=$repo/build/portable
tools=${HPCML_RELEASE_TOOLS:-$work/tools}
jobs=${HPCML_RELEASE_JOBS:-$(nproc)}
here=$(uname -m)
export LC_ALL=C TZ=UTC
umask 022

# Debian's packages of what is compiled in, all of them headers; and the directories under /usr/include that are theirs.
header_packages=(libcli11-dev libfmt-dev libkainjow-mustache-dev libspdlog-dev nlohmann-json3-dev)
header_folders=(CLI fmt kainjow nlohmann spdlog)

# The compiler, and a command for each of its parts that cmake calls.
get_tools() {
  local part zig
  [ -f "$tools/zig-$zig_version" ] || {
    { python3 -m venv --clear "$tools/venv" && "$tools/venv/bin/pip" install -q "ziglang==$zig_version"; } || die "pip could not install ziglang==$zig_version"
    zig=$(echo "$tools"/venv/lib/python3*/site-packages/ziglang)
    ln -sfn "$zig" "$tools/zig"
    touch "$tools/zig-$zig_version"
  }
  [ -f "$tools/pugixml/src/pugixml.cpp" ] || {
    rm -rf "$tools/pugixml" "$tools/download"
    mkdir -p "$tools/pugixml" "$tools/download"
    { echo "$pugixml_package" >"$tools/download/requirements.txt" && "$tools/venv/bin/pip" download -q --no-deps --no-binary pugixml \
      --require-hashes -r "$tools/download/requirements.txt" -d "$tools/download"; } || die "pip could not download ${pugixml_package%% *}"
    tar -xzf "$tools"/download/pugixml-*.tar.gz -C "$tools/pugixml" --strip-components=4 --wildcards '*/src/third_party/pugixml/*'
  }
  for part in c++ ar ranlib; do
    printf '#!/bin/sh\nexec "%s/zig/zig" %s "$@"\n' "$tools" "$part" >"$tools/zig-$part"
    chmod +x "$tools/zig-$part"
  done
  export ZIG_GLOBAL_CACHE_DIR=$tools/cache ZIG_LOCAL_CACHE_DIR=$tools/cache
}

# One directory with the headers, as old as they are (what has been built from them stays), and beside it what their authors ask to be told.
get_headers() {
  local name
  rm -rf "$work/headers" "$work/licences"
  mkdir -p "$work/headers" "$work/licences"
  if [ -d "$repo/headers" ]; then # an archive of the sources brings them
    cp -rp "$repo/headers/." "$work/headers"
    cp -rp "$repo/licences/." "$work/licences"
    return
  fi
  install_packages "${header_packages[@]}"
  for name in "${header_folders[@]}"; do cp -rpL "/usr/include/$name" "$work/headers/"; done
  for name in "${header_packages[@]}"; do cp -L "/usr/share/doc/$name/copyright" "$work/licences/$name.txt"; done
  dpkg-query -W -f='${Package} ${Version}\n' "${header_packages[@]}" >"$work/licences/VERSIONS"
  mkdir "$work/headers/pugixml"
  cp -p "$tools"/pugixml/src/pugi* "$work/headers/pugixml"
  cp -p "$tools/pugixml/LICENSE.md" "$work/licences/pugixml.txt"
  echo "pugixml $(sed -n 's/.*PUGIXML_VERSION [0-9]* \/\/ //p' "$tools/pugixml/src/pugixml.hpp")" >>"$work/licences/VERSIONS"
}

# configure ARCH [cmake's options]: no path of this machine may get into the program
configure() {
  local arch=$1
  shift
  cmake -S . -B "$work/$arch" -G Ninja -DCMAKE_TOOLCHAIN_FILE="$repo/cmake/release/zig.cmake" -DHPCML_RELEASE_ARCH="$arch" \
    -DHPCML_ZIG_TOOLS="$tools" -DHPCML_HEADERS="$work/headers" -DHPCML_CCACHE= -DHPCML_TORCH=OFF -DBUILD_TESTING=OFF \
    -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_LIBDIR=lib \
    -DCMAKE_CXX_FLAGS="-ffile-prefix-map=$work/$arch=build -ffile-prefix-map=$work=. -ffile-prefix-map=$repo=. -ffile-prefix-map=$tools=tools -fno-ident -ffunction-sections -fdata-sections" \
    -DCMAKE_EXE_LINKER_FLAGS="-s -Wl,--gc-sections -Wl,--build-id=none" "$@" >"$work/$arch.log" ||
    die "configuring for $arch failed: $work/$arch.log"
}

# compile ARCH TARGET...
compile() {
  local arch=$1
  shift
  cmake --build "$work/$arch" -j "$jobs" --target "$@" >>"$work/$arch.log" 2>&1 || {
    grep -m1 -A5 'error:' "$work/$arch.log" >&2 || true
    die "building for $arch failed: $work/$arch.log"
  }
}

# No symbol of a C library newer than glibc 2.28, and no shared library but the C library's own
check_program() {
  local program=$1 newest needed
  newest=$(readelf --wide --version-info "$program" | grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -1)
  [ "$(printf '%s\nGLIBC_2.28\n' "$newest" | sort -V | tail -1)" = GLIBC_2.28 ] || die "$program needs $newest: newer than glibc 2.28"
  needed=$(readelf --wide --dynamic "$program" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -vE '^(lib(c|m|pthread|dl|rt|util)\.so\.[0-9]|ld-linux.*)$' || true)
  [ -z "$needed" ] || die "$program needs shared libraries that a machine may lack: $needed"
  ! grep -qF -e "$repo" -e "$tools" "$program" || die "$program names a directory of this machine"
  say "$(basename "$program"): $(stat -c %s "$program") bytes, asks for $newest"
}

started=$SECONDS
install_packages cmake ninja-build binutils python3 python3-venv xz-utils
mkdir -p "$work"
get_tools
get_headers
# The program that writes a source runs here, for whichever machine the rest is.
configure "$here"
say "hpcml_site_rows, for this machine"
compile "$here" hpcml_site_rows
for arch in "${archs[@]}"; do
  say "hpcml for $arch"
  host_tools=()
  [ "$arch" = "$here" ] || host_tools=(-DHPCML_HOST_TOOLS="$work/$here/bin")
  configure "$arch" "${host_tools[@]}"
  compile "$arch" hpcml
  rm -rf "$work/tree-$arch"
  DESTDIR='' cmake --install "$work/$arch" --prefix "$work/tree-$arch" >>"$work/$arch.log" || die "installing for $arch failed: $work/$arch.log"
  # Manual pages are written by the program, where it runs.
  [ "$arch" = "$here" ] || [ ! -d "$work/tree-$here/share/man" ] || cp -r "$work/tree-$here/share/man" "$work/tree-$arch/share"
  check_program "$work/tree-$arch/bin/hpcml"
done
pack_all
say "done in $(((SECONDS - started) / 60)) min $(((SECONDS - started) % 60)) s: $out"
