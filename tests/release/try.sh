# shellcheck shell=bash
# shellcheck disable=SC2154  # what it needs is run.sh's
# Sourced by run.sh: each way to come by the program, and the same job with it.
# Needs: files, work, other, version, wheel; sets oldest and quickstart.

# under_qemu COMMAND...: a program for aarch64
under_qemu() { qemu-aarch64-static -L /usr/aarch64-linux-gnu "$@"; }

# as_nobody COMMAND...: with no right but those of all, and a home of its own
as_nobody() {
  mkdir -p "$other/home"
  chown 65534:65534 "$other/home"
  env -i PATH="$PATH" HOME="$other/home" LC_ALL=C setpriv --reuid 65534 --regid 65534 --clear-groups --no-new-privs "$@"
}

# launch_ranks DIRECTORY COMMAND...: two ranks; under qemu as the two tasks of srun, since qemu cannot make the process that starts them otherwise
launch_ranks() {
  local directory=$1 rank failed=0 ranks=()
  # shellcheck disable=SC2016  # the ranks say it
  local command=(-- /bin/sh -c 'echo rank $RANK of $WORLD_SIZE')
  shift
  if [ "$1" != under_qemu ]; then
    "$@" launch --nproc-per-node 2 "${command[@]}" >"$directory/launch" 2>&1
    return
  fi
  for rank in 0 1; do
    timeout 300 env SLURM_JOB_ID=7 SLURM_STEP_ID=0 SLURM_JOB_NODELIST=localhost SLURM_STEP_NODELIST=localhost SLURM_NNODES=1 SLURM_JOB_NUM_NODES=1 \
      SLURM_STEP_NUM_NODES=1 SLURM_NTASKS=2 SLURM_STEP_NUM_TASKS=2 SLURM_TASKS_PER_NODE=2 SLURM_STEP_TASKS_PER_NODE=2 SLURM_NODEID=0 \
      SLURM_PROCID=$rank SLURM_LOCALID=$rank \
      qemu-aarch64-static -L /usr/aarch64-linux-gnu "${@:2}" launch "${command[@]}" >"$directory/launch.$rank" 2>&1 &
    ranks+=($!)
  done
  for rank in "${ranks[@]}"; do wait "$rank" || failed=1; done
  cat "$directory"/launch.[01] >"$directory/launch"
  return "$failed"
}

# try_program DIRECTORY COMMAND...: gen, check and launch; DIRECTORY gets what they say
try_program() {
  local directory=$1
  shift
  rm -rf "$directory"
  mkdir -p "$directory"
  [ "$("$@" --version)" = "hpcml $version" ] || die "$* is not version $version"
  "$@" gen --site lumi --nodes 2 --gpus-per-node 8 --account project_1 --time 10 --hpcml-path /opt/hpcml -- python train.py >"$directory/job.sh" || die "gen failed"
  bash -n "$directory/job.sh"
  "$@" check --site lumi - <"$directory/job.sh" >"$directory/check" 2>&1 || die "check found something: $(cat "$directory/check")"
  printf '#!/bin/bash\n#SBATCH --nodes=two\nhostname\n' >"$directory/wrong.sh"
  "$@" check - <"$directory/wrong.sh" >"$directory/findings" 2>&1 && die "check finds nothing wrong with --nodes=two"
  grep -q 'slurm/value' "$directory/findings" || die "check says something else of --nodes=two: $(cat "$directory/findings")"
  launch_ranks "$directory" "$@" || die "launch failed: $(cat "$directory/launch")"
  [ "$(grep -o 'rank [01] of 2' "$directory/launch" | sort)" = $'rank 0 of 2\nrank 1 of 2' ] || die "no two ranks: $(cat "$directory/launch")"
  echo "$("$@" --version): gen, check and launch"
}

# same_bytes DIRECTORY: builds once more from the sources there, with a copy of the compiler and no network, and compares. Before that the
# machine's own compiler takes them, too.
same_bytes() {
  local directory=$1 tools=$1/compiler
  mkdir -p "$tools"
  cp -rL "$work/tools/zig" "$tools/zig"
  cp "$work"/tools/zig-[0-9]* "$tools"
  cp -r "$work/tools/pugixml" "$tools/pugixml"
  { unshare --net cmake -S "$directory" -B "$directory/plain" -G Ninja -DHPCML_TORCH=OFF -DBUILD_TESTING=OFF -DHPCML_HEADERS="$directory/headers" >"$work/plain.log" &&
    unshare --net cmake --build "$directory/plain" --target hpcml_config >>"$work/plain.log"; } || die "the machine's own compiler does not build the sources: $work/plain.log"
  HPCML_RELEASE_TOOLS=$tools HPCML_RELEASE_FILES=$directory/files unshare --net bash "$directory/cmake/release/build.sh" all
  (cd "$directory/files" && grep -v -- '-source\.tar\.gz$' "$files/SHA256SUMS" | sha256sum --quiet -c -) || die "the second build gave other bytes"
  echo "all $(grep -cv -- '-source\.tar\.gz$' "$files/SHA256SUMS") files are the same, byte by byte"
  rm -rf "$directory"
}

# make_debian SUITE: Debian's smallest installation, from the machine's own mirror; false where it cannot be had
make_debian() {
  local mirror
  # shellcheck disable=SC2016  # apt expands it
  mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Origin: Debian' 'Label: Debian' 'Created-By: Packages' | head -1)
  [ ! -f "$work/$1/complete" ] || return 0
  rm -rf --one-file-system "${work:?}/$1"
  debootstrap --variant=minbase "$1" "$work/$1" "$mirror" >"$work/debootstrap-$1.log" 2>&1 && touch "$work/$1/complete"
}

# The oldest Debian that can be had, as a directory to chroot into
make_old_debian() {
  for oldest in buster bullseye bookworm; do
    make_debian "$oldest" && return 0
    echo "$oldest cannot be had: $(tail -1 "$work/debootstrap-$oldest.log")"
  done
  die "no Debian can be had to try the program in"
}

# The quickstart from the wheel on a bare Debian 12, packages and all; a layer over it takes what is installed, and is gone at the end
try_quickstart() {
  local files=$other/quickstart
  say "the quickstart from the wheel, on a bare Debian 12"
  make_debian bookworm || die "Debian 12 cannot be had: $(tail -1 "$work/debootstrap-bookworm.log")"
  mkdir -p "$files/root/docs" "$files/layer" "$files/machine"
  cp docs/setup.sh docs/quickstart-wheel.sh "$files/root/docs"
  cp "${wheel}_x86_64.whl" "$files/root"
  # shellcheck disable=SC2016  # the shell in there expands it
  unshare --mount --pid --fork --kill-child bash -ec '
    lower=$1 machine=$2/machine
    mount -t tmpfs none "$2/layer"
    mkdir "$2/layer/upper" "$2/layer/work"
    mount -t overlay overlay -o "lowerdir=$lower,upperdir=$2/layer/upper,workdir=$2/layer/work" "$machine"
    cp -L /etc/resolv.conf "$machine/etc/resolv.conf" && echo 127.0.0.1 localhost >"$machine/etc/hosts" # as every machine has them
    mount -t proc proc "$machine/proc" && mount --rbind /sys "$machine/sys" && mount --rbind /dev "$machine/dev" && mount --bind "$2/root" "$machine/mnt"
    exec chroot "$machine" /usr/bin/env -i PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin HOME=/root bash -c "exec bash /mnt/docs/quickstart-wheel.sh /mnt/*.whl"' \
    bash "$work/bookworm" "$files" | tee "$other/quickstart.log"
  quickstart=$(sed -n 's/^ *\([0-9.]* s\)  from a bare machine.*/\1/p' "$other/quickstart.log")
  [ -n "$quickstart" ] || die "the quickstart from the wheel has not come to its end"
}

# in_old_debian COMMAND...: in its own mount and process namespaces, so that nothing is left mounted
in_old_debian() {
  # shellcheck disable=SC2016  # the shell in there expands it
  unshare --mount --pid --fork --kill-child bash -c '
    root=$1
    shift
    mount -t proc proc "$root/proc" && mount --rbind /sys "$root/sys" && exec chroot "$root" /usr/bin/env -i PATH=/usr/bin:/bin:/usr/sbin:/sbin HOME=/root "$@"' \
    bash "$work/$oldest" "$@"
}

# section NAME: the lines of a section of the apptainer definition
section() { sed -n "/^%$1\$/,/^%/{/^%/!p}" docs/recipes/hpcml.def; }

# The package for amd64, installed in the old Debian by the steps of the apptainer definition
try_in_old_debian() {
  make_old_debian
  say "x86_64 in Debian $oldest"
  in_old_debian ldd --version | head -1
  grep -qF "hpcml_${version}_amd64.deb /hpcml.deb" docs/recipes/hpcml.def || die "docs/recipes/hpcml.def takes another package"
  cp "$files/hpcml_${version}_amd64.deb" "$work/$oldest/hpcml.deb"
  in_old_debian bash -ec "$(section post)" >"$work/dpkg.log" 2>&1 || die "dpkg -i failed: $(tail -3 "$work/dpkg.log")"
  in_old_debian bash -ec "$(section test)"
  try_program "$other/old" in_old_debian hpcml
  in_old_debian dpkg --purge hpcml >/dev/null
}

# Both wheels as their judges see them, and the one for this machine installed by a user without rights, without network
try_wheels() {
  local arch size venv=$other/home/venv script
  say "the wheels"
  [ -x "$work/judges/bin/auditwheel" ] || {
    python3 -m venv --clear "$work/judges"
    "$work/judges/bin/pip" install -q auditwheel==6.8.2 check-wheel-contents==0.6.3 || die "pip could not install auditwheel and check-wheel-contents"
  }
  for arch in x86_64 aarch64; do
    size=$(stat -c %s "${wheel}_$arch.whl")
    [ "$size" -le $((15 * 1024 * 1024)) ] || die "the wheel for $arch has $size bytes: more than 15 MiB"
    "$work/judges/bin/check-wheel-contents" "${wheel}_$arch.whl"
    "$work/judges/bin/auditwheel" show "${wheel}_$arch.whl" | tee "$other/audit"
    grep -qE "manylinux_2_(1[0-9]|2[0-8])_$arch" "$other/audit" || die "auditwheel says another platform than manylinux_2_28_$arch"
  done
  say "the wheel in a fresh environment, as a user without rights, without network"
  as_nobody /usr/bin/python3 -m venv "$venv"
  as_nobody unshare --user --net "$venv/bin/pip" install -q --no-index --disable-pip-version-check "${wheel}_x86_64.whl"
  try_program "$other/wheel" as_nobody "$venv/bin/hpcml"
  [ "$(as_nobody "$venv/bin/python" -c 'import hpcml; print(hpcml.__version__, hpcml.path)')" = "$version $venv/bin/hpcml" ] || die "import hpcml says something else"
  # Scripts name the program of the environment, and beside it is the one for other nodes.
  script=$(as_nobody "$venv/bin/hpcml" gen --site lumi --nodes 1 --gpus-per-node 8 --account project_1 --time 10 -- python train.py)
  grep -qF "$venv/bin/hpcml" <<<"$script" || die "the script does not name $venv/bin/hpcml"
  cmp "$venv/bin/hpcml-aarch64" "$files/hpcml-aarch64"
  [ -x "$venv/bin/hpcml-aarch64" ] || die "hpcml-aarch64 of the environment is no program"
}

# The modulefile with a real Lmod, the easyconfig as EasyBuild's own checks see it
try_recipes() {
  local easyconfig=docs/recipes/hpcml-$version-GCCcore-13.3.0.eb root=$other/apps/hpcml/$version
  say "the modulefile and the easyconfig"
  mkdir -p "$other/apps/hpcml" "$other/modules/hpcml"
  ln -s "$other/hpcml-$version-linux-x86_64" "$root"
  sed "s#\"/apps/hpcml\"#\"$other/apps/hpcml\"#" docs/recipes/hpcml.lua >"$other/modules/hpcml/$version.lua"
  # shellcheck disable=SC2016  # the shell with Lmod expands it
  [ "$(as_nobody bash -c '. /etc/profile.d/lmod.sh && module use "$1" && module load hpcml && command -v hpcml' bash "$other/modules")" = "$root/bin/hpcml" ] ||
    die "the modulefile does not put hpcml into the PATH"
  [ -x "$work/easybuild/bin/pycodestyle" ] || {
    /usr/bin/python3 -m venv --clear "$work/easybuild"
    "$work/easybuild/bin/pip" install -q easybuild==5.4.1 pycodestyle || die "pip could not install easybuild"
  }
  # EasyBuild refuses to run as root, so it gets copies that others may read.
  cp "$easyconfig" "$other/"
  cp -r "$work/easybuild" "$other/easybuild"
  # shellcheck disable=SC2016  # the shell with Lmod expands it
  as_nobody env EB_PYTHON="$other/easybuild/bin/python" PATH="$other/easybuild/bin:$PATH" bash -c \
    '. /etc/profile.d/lmod.sh && cd && eb --modules-tool=Lmod --check-style "$1" && eb --modules-tool=Lmod --dry-run "$1"' bash "$other/$(basename "$easyconfig")" |
    tee "$other/easybuild.log"
  grep -q 'All style checks PASSed' "$other/easybuild.log" || die "EasyBuild's style checks find something in $easyconfig"
  grep -q "module: hpcml/$version" "$other/easybuild.log" || die "EasyBuild does not take $easyconfig"
}
