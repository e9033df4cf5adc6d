#!/usr/bin/env bash
# Builds hpcml (without LibTorch) on Debian 12, Ubuntu 24.04 or later, and puts it into a folder: install.sh FOLDER
# Needs root or sudo where packages are missing.
set -euo pipefail
[ "$#" -eq 1 ] || { echo "usage: install.sh FOLDER" >&2; exit 2; }
mkdir -p "$1"
prefix=$(cd "$1" && pwd)
repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$repo"
# shellcheck source=docs/setup.sh
. docs/setup.sh
install_packages "${core_packages[@]}"
cmake --preset core-only -DBUILD_TESTING=OFF >/dev/null || die "configuring failed: the first 'CMake Error' above says what is missing"
cmake --build --preset core-only --target hpcml || die "building failed: the first 'error:' above is the cause"
install -D "build/core-only/bin/hpcml" "$prefix/hpcml"
"$prefix/hpcml" --version
