#!/usr/bin/env bash
# Runs both commands of the README on minimal Debian 12 systems, first as root, then as a user with sudo: bash tests/bare/run.sh
# Each system is a directory in build/bare that mmdebstrap fills with Debian's required packages and apt. A clean clone of HEAD
# is put into it, and the commands run as printed. Needs root on this machine; takes as long as both commands, twice.
# At last it adds a test that imports a package that tests/run.sh does not install, and expects tests/run.sh to fail.
#   BARE_PARTS="root user plant"  the parts to run, in this order
#   BARE_TESTS=REGEX              only the tests whose names match (tests/run.sh -R REGEX)
#   BARE_PLANT=1                  adds that test from the start: this script must fail
#   BARE_CCACHE=DIRECTORY         a compiler cache of this machine to use; a bare machine has none
# shellcheck disable=SC2317  # the parts are called by their names
set -euo pipefail
repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$repo"
# shellcheck source=docs/setup.sh
. docs/setup.sh
work=$repo/build/bare
[ "$(id -u)" -eq 0 ] || die "only root can make and enter the systems"
install_packages mmdebstrap git
mkdir -p "$work"

# The packages come from where this machine has them.
debian_sources() {
  local sources
  # shellcheck disable=SC2016  # apt-get fills these in
  sources=$(apt-get indextargets --format '$(ORIGIN) $(CODENAME) deb $(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
    sed -n 's/^Debian bookworm[a-z-]* //p' | sort -u)
  printf '%s\n' "${sources:-deb http://deb.debian.org/debian bookworm main}"
}

# The directories of this machine that pip's settings name: they are shown inside, too. Of an index, with the files it links to.
pip_directories() {
  local path
  { cat /etc/pip.conf /etc/xdg/pip/* ~/.config/pip/pip.conf ~/.pip/pip.conf 2>/dev/null || true; env | grep '^PIP_' || true; } |
    { grep -oE '(file://)?/[^ ,"'\'']+' || true; } | sed 's,^file://,,; s,/simple$,,' | sort -u | while read -r path; do
    case $path in
      /etc/* | //*) ;;
      *) [ ! -d "$path" ] || printf '%s\n' "$path" ;;
    esac
  done
}

copy_if_there() {
  [ ! -e "$1" ] || { mkdir -p "$2" && cp -rL "$1" "$2"; }
}

# make_machine NAME USER: a minimal system with a clean clone in the user's home; prints the system's directory
make_machine() {
  local machine=$work/$1 user=$2 home=/root
  rm -rf "$machine"
  mkdir -p "$machine"
  tar -C "$machine" -xf "$work/minimal.tar"
  cp /etc/hosts "$machine/etc/hosts"
  copy_if_there /usr/local/share/ca-certificates "$machine/usr/local/share"
  copy_if_there /etc/pip.conf "$machine/etc"
  copy_if_there /etc/xdg/pip "$machine/etc/xdg"
  [ -z "${BARE_CCACHE:-}" ] || in_machine "$1" root / sh -c 'apt-get update -qq && apt-get install -y -qq --no-install-recommends ccache >/dev/null'
  if [ "$user" != root ]; then
    home=/home/$user
    in_machine "$1" root / sh -c "apt-get update -qq && apt-get install -y -qq --no-install-recommends sudo >/dev/null &&
      useradd --create-home --shell /bin/bash '$user' && echo '$user ALL=(ALL) NOPASSWD: ALL' >/etc/sudoers.d/$user"
  fi
  copy_if_there ~/.config/pip "$machine$home/.config"
  git clone --quiet --no-hardlinks "$repo" "$machine$home/hpcml"
  [ -z "${BARE_PLANT:-}" ] || plant "$1" "$home"
  [ "$user" = root ] || in_machine "$1" root / chown -R "$user:$user" "$home"
}

# plant NAME HOME: a test that imports a package. Nobody installs it, but it is where a user may have packages: in ~/.local, and
# known to a Python in /usr/local. Whether it is found there shows whether tests/run.sh hides both.
plant() {
  local machine=$work/$1 packages=$work/$1$2/.local/lib/python3.11/site-packages
  mkdir -p "$packages"
  : >"$packages/planted_package.py"
  printf '#!/bin/sh\nexec env PYTHONPATH=%s /usr/bin/python3 "$@"\n' "${packages#"$machine"}" >"$machine/usr/local/bin/python3"
  chmod 755 "$machine/usr/local/bin/python3"
  printf 'add_test(NAME planted COMMAND python3 -c "import planted_package")\n' >>"$machine$2/hpcml/tests/CMakeLists.txt"
}

# in_machine NAME USER DIRECTORY COMMAND...
in_machine() {
  local machine=$work/$1
  shift
  BARE_BINDS=$(pip_directories; [ -z "${BARE_CCACHE:-}" ] || echo "$(realpath "$BARE_CCACHE"):/var/cache/ccache") \
    bash tests/bare/enter.sh "$machine" "$@"
}

results=()
# run_command PART NAME USER SCRIPT [ARGS...]: its output goes to build/bare/PART-SCRIPT.log
run_command() {
  local part=$1 name=$2 user=$3 home=/root started=$SECONDS rc=0 cache=()
  shift 3
  last_log=$work/$part-$(basename "$1").log
  [ "$user" = root ] || home=/home/$user
  # Read only, because it belongs to this machine's user.
  [ -z "${BARE_CCACHE:-}" ] || cache=(CCACHE_DIR=/var/cache/ccache CCACHE_READONLY=1 CCACHE_NOSTATS=1 CCACHE_TEMPDIR=/tmp CCACHE_NOHASHDIR=1
    CCACHE_BASEDIR="$home/hpcml" 'CCACHE_SLOPPINESS=pch_defines,time_macros')
  say "$part: bash $*   (log: ${last_log#"$repo/"})"
  local TIMEFORMAT='%U %S' cpu
  { time in_machine "$name" "$user" "$home/hpcml" env "${cache[@]}" bash "$@" >"$last_log" 2>&1 || rc=$?; } 2>"$work/cpu"
  cpu=$(awk 'END { printf "%d", $1 + $2 }' "$work/cpu")
  tail -n 15 "$last_log"
  results+=("$part: $* exit code $rc in $(((SECONDS - started + 30) / 60)) min, $cpu s of processor time")
  say "${results[-1]}"
  return "$rc"
}

selection=()
[ -z "${BARE_TESTS:-}" ] || selection=(-R "$BARE_TESTS")

# As on an image for containers: services are not started.
part_root() {
  make_machine root root
  printf '#!/bin/sh\nexit 101\n' >"$work/root/usr/sbin/policy-rc.d"
  chmod 755 "$work/root/usr/sbin/policy-rc.d"
  run_command root root root docs/quickstart.sh && run_command root root root tests/run.sh "${selection[@]}"
}

# As on a machine of one's own: no policy for services, all through sudo.
part_user() {
  make_machine user ada
  run_command user user ada docs/quickstart.sh && run_command user user ada tests/run.sh "${selection[@]}"
}

# In the system of the first part, where hpcml is built already
part_plant() {
  [ -d "$work/root/root/hpcml" ] || make_machine root root
  [ -n "${BARE_PLANT:-}" ] || plant root /root
  if run_command plant root root tests/run.sh -R '^planted$'; then
    echo "a test that imports a package nobody installs passed"
    return 1
  fi
  grep -q "No module named 'planted_package'" "$last_log"
}

say "a minimal Debian 12 (mmdebstrap)"
debian_sources >"$work/sources.list"
mmdebstrap --quiet --variant=minbase bookworm "$work/minimal.tar" "$work/sources.list"
failed=0
for part in ${BARE_PARTS:-root user plant}; do
  "part_$part" || failed=1
done
# Each is 10 GB; after a failure they stay to be looked at.
[ "$failed" -ne 0 ] || rm -rf "$work/root" "$work/user"
(IFS=';'; printf '%s\n' "${results[*]}" | sed 's/;/; /g')
exit "$failed"
