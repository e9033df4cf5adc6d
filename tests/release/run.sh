#!/usr/bin/env bash
# Builds the files of a release and tries them as strangers would: tests/release/run.sh   (root; Debian 12; about 40 minutes on 2 cores)
# Twice, the second time from the archive of the sources, in another directory, without network: the bytes are the same. Then the program under
# qemu (aarch64), in the oldest Debian that can be had (x86_64), and the wheels, the archive and the package.
# RELEASE_ONCE=1 leaves out the second build; RELEASE_BUILT=1 both: build/release-files is there already.
set -euo pipefail
repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$repo"
# shellcheck source=docs/setup.sh
. docs/setup.sh
files=$repo/build/release-files
work=$repo/build/portable
here=$(uname -m)
[ "$here" = x86_64 ] || die "the aarch64 program is tried under qemu here: this wants an x86_64 machine"
[ "$(id -u)" -eq 0 ] || die "chroots and other users need root"
install_packages qemu-user-static libc6-arm64-cross debootstrap python3-venv lmod
# shellcheck source=tests/release/try.sh
. tests/release/try.sh
started=$SECONDS

if [ -z "${RELEASE_BUILT:-}" ]; then
  [ -z "$(git status --porcelain -- . ':!.ci/full.results')" ] || die "there are changes that no commit has: the second build would not have them"
  bash cmake/release/build.sh all
fi
cat "$files/BUILD-INFO"
(cd "$files" && sha256sum --quiet -c SHA256SUMS && stat -c '%s %n' -- *)
version=$(sed -n 's/^hpcml \([0-9.]*\),.*/\1/p' "$files/BUILD-INFO")
wheel=$files/hpcml-$version-py3-none-manylinux_2_28

other=$(mktemp -d "${TMPDIR:-/tmp}/hpcml-release.XXXXXX")
trap 'rm -rf --one-file-system "$other"' EXIT
chmod 755 "$other"

if [ -z "${RELEASE_BUILT:-}${RELEASE_ONCE:-}" ]; then
  say "the same bytes from the archive of the sources, in $other, without network"
  tar -C "$other" -xf "$files/hpcml-$version-source.tar.gz"
  same_bytes "$other/hpcml-$version"
fi

say "aarch64 under qemu"
try_program "$other/aarch64" under_qemu "$files/hpcml-aarch64"

try_in_old_debian

say "the archive, unpacked anywhere, as a user without rights"
tar -C "$other" -xf "$files/hpcml-$version-linux-x86_64.tar.gz"
[ -x "$other/hpcml-$version-linux-x86_64/bin/hpcml-aarch64" ] || die "the archive has no program for aarch64"
try_program "$other/archive" as_nobody "$other/hpcml-$version-linux-x86_64/bin/hpcml"

say "the package for arm64"
dpkg-deb -x "$files/hpcml_${version}_arm64.deb" "$other/arm64"
cmp "$other/arm64/usr/bin/hpcml" "$files/hpcml-aarch64"
[ "$(dpkg-deb -f "$files/hpcml_${version}_arm64.deb" Architecture)" = arm64 ] || die "the package is for another architecture"

try_recipes
try_wheels
try_quickstart
for file in aarch64 old archive wheel; do
  cmp "$other/$file/job.sh" "$other/aarch64/job.sh" || die "the script of $file is not the one of aarch64"
done
say "done in $(((SECONDS - started) / 60)) minutes"
repeated="built once, "
if [ -z "${RELEASE_BUILT:-}${RELEASE_ONCE:-}" ]; then repeated="the same bytes twice, "; fi
echo "${repeated}wheels $(stat -c %s "${wheel}_x86_64.whl" "${wheel}_aarch64.whl" | xargs) bytes, programs run in $oldest and under qemu, from a bare Debian 12 to a rehearsed script in $quickstart"
