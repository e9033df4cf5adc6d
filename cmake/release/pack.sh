# shellcheck shell=bash
# shellcheck disable=SC2154  # what it needs is build.sh's
# Sourced by build.sh: packs the built trees. Every file has the date of the commit, and names are sorted: same trees, same bytes.
# Needs: repo, work (with tree-ARCH, headers, licences), out, archs, zig_version; to be in repo, with LC_ALL=C.

# The commit and its date; an archive of the sources has them in a file.
source_of() {
  if [ -f "$repo/SOURCE" ]; then
    cat "$repo/SOURCE"
  else
    git -C "$repo" log -1 --format='%H %ct' || die "which commit is this? There is no git here and no file SOURCE"
  fi
}

# What the authors of all that is in the program ask to be told with it
write_copyright() {
  local file
  {
    printf 'hpcml\n\n'
    cat LICENSE
    for file in "$work"/licences/*.txt; do
      printf '\n\nCompiled in: %s\n\n' "$(basename "$file" .txt)"
      cat "$file"
    done
  } >"$work/pack/copyright"
}

# pack_directory ARCHIVE DIRECTORY: DIRECTORY/ as its only entry
pack_directory() {
  tar -C "$(dirname "$2")" --sort=name --format=gnu --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --mode=u+rwX,go=rX -cf - \
    "$(basename "$2")" | gzip -9n >"$1"
}

# pack_archive ARCH: bin/, share/ and include/, to be unpacked anywhere; the program for the other processor beside the first
pack_archive() {
  local arch=$1 directory=$work/pack/hpcml-$version-linux-$1
  mkdir -p "$directory"
  cp -a "$work/tree-$arch/." "$directory"
  beside "$arch" "$directory/bin"
  cp README.md CHANGELOG.md "$directory"
  cp "$work/pack/copyright" "$directory/LICENSE"
  pack_directory "$out/$(basename "$directory").tar.gz" "$directory"
}

# beside ARCH DIRECTORY: the programs for other processors, where this run built them
beside() {
  local other
  for other in "${archs[@]}"; do
    [ "$other" = "$1" ] || cp "$work/tree-$other/bin/hpcml" "$2/hpcml-$other"
  done
}

pack_deb() {
  local arch=$1 directory=$work/pack/deb-$1 debian=amd64
  [ "$arch" = x86_64 ] || debian=arm64
  mkdir -p "$directory/DEBIAN" "$directory/usr/share/doc/hpcml"
  cp -a "$work/tree-$arch/." "$directory/usr"
  cp "$work/pack/copyright" "$directory/usr/share/doc/hpcml/copyright"
  {
    printf 'Package: hpcml\nVersion: %s\nArchitecture: %s\nMaintainer: the hpcml authors\n' "$version" "$debian"
    printf 'Installed-Size: %s\nDepends: libc6 (>= 2.28)\n' "$(du -sk --apparent-size "$directory/usr" | cut -f1)"
    cat cmake/release/control # what it has in common with the package that cpack makes
  } >"$directory/DEBIAN/control"
  (cd "$directory" && find usr -type f | sort | xargs md5sum >DEBIAN/md5sums)
  find "$directory" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
  chmod -R u+rwX,go=rX "$directory"
  dpkg-deb --root-owner-group -Zxz -b "$directory" "$out/hpcml_${version}_$debian.deb" >/dev/null
}

pack_wheel() {
  local arch=$1 directory=$work/pack/wheel-$1 part others
  mkdir -p "$directory/share"
  beside "$arch" "$directory"
  mapfile -t others < <(find "$directory" -maxdepth 1 -type f | sort)
  for part in man bash-completion zsh fish; do
    [ ! -d "$work/tree-$arch/share/$part" ] || cp -r "$work/tree-$arch/share/$part" "$directory/share"
  done
  python3 cmake/release/make_wheel.py --version "$version" --arch "$arch" --program "$work/tree-$arch/bin/hpcml" \
    --beside "${others[@]}" --share "$directory/share" --readme README.md --licence "$work/pack/copyright" --out "$out" >/dev/null
}

# The sources with the headers: builds without network, with any C++20 compiler and cmake
pack_sources() {
  local directory=$work/pack/hpcml-$version
  [ ! -f "$repo/SOURCE" ] || return 0
  mkdir -p "$directory"
  git archive HEAD | tar -C "$directory" -xf -
  cp -r "$work/headers" "$work/licences" "$directory"
  source_of >"$directory/SOURCE"
  pack_directory "$out/hpcml-$version-source.tar.gz" "$directory"
}

pack_all() {
  local arch state
  version=$(sed -n 's/^project(hpcml VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
  state=$(source_of)
  export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-${state#* }}
  state=${state% *}
  [ -f SOURCE ] || [ -z "$(git status --porcelain)" ] || state+=", with changes"
  rm -rf "$out" "$work/pack"
  mkdir -p "$out" "$work/pack"
  write_copyright
  {
    echo "hpcml $version, $state"
    echo "compiler: zig c++ $zig_version, glibc 2.28"
    cat "$work/licences/VERSIONS"
  } >"$out/BUILD-INFO"
  for arch in "${archs[@]}"; do
    cp "$work/tree-$arch/bin/hpcml" "$out/hpcml-$arch"
    pack_archive "$arch"
    pack_deb "$arch"
    pack_wheel "$arch"
  done
  pack_sources
  rm -rf "$work/pack"
  (cd "$out" && sha256sum -- * >"$work/SHA256SUMS" && mv "$work/SHA256SUMS" .)
}
