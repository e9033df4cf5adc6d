#!/usr/bin/env bash
# Runs a command in a directory tree as on a machine of its own: enter.sh ROOT USER DIRECTORY COMMAND...
# Needs root. Processes, mounts, /tmp and /dev/shm are separate, and every process ends with the command. The network and
# the control groups are the host's. BARE_BINDS lists host directories, one per line as SOURCE[:TARGET], to show inside.
set -euo pipefail
if [ "${BARE_INSIDE:-}" != yes ]; then
  exec unshare --mount --pid --ipc --uts --fork --kill-child env BARE_INSIDE=yes bash "$0" "$@"
fi
root=$(realpath "$1") user=$2 directory=$3
shift 3

mount --make-rprivate /
mount --bind "$root" "$root"
cd "$root"
mount -t proc proc proc
mount --rbind /sys sys
mount --rbind /dev dev
# A new instance, or a terminal's name would be one of the host.
mount -t devpts -o newinstance,ptmxmode=0666,mode=620,gid=5 devpts dev/pts
mount -t tmpfs -o mode=1777 tmpfs dev/shm
mount -t tmpfs -o mode=755 tmpfs run
mkdir -p run/lock
while read -r bind; do
  [ -n "$bind" ] || continue
  target=.${bind#*:}
  [ "$target" != ".$bind" ] || target=.$bind
  mkdir -p "$target"
  mount --rbind "${bind%%:*}" "$target"
done <<<"${BARE_BINDS:-}"

# chroot is not enough: the kernel allows no user namespaces in one.
mkdir -p .host
pivot_root . .host
cd /
umount -l .host
rmdir .host

home=$(getent passwd "$user" | cut -d: -f6)
variables=(PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME="$home" USER="$user" LOGNAME="$user" TERM=dumb)
# How pip and apt reach their servers from this host
while IFS= read -r name; do
  variables+=("$name=${!name}")
done < <(compgen -e | grep -E '^(PIP_(INDEX_URL|EXTRA_INDEX_URL|FIND_LINKS|CERT|DEFAULT_TIMEOUT|CONSTRAINT|TRUSTED_HOST)|SSL_CERT_(FILE|DIR)|REQUESTS_CA_BUNDLE|(https?|ftp|no|all)_proxy|(HTTPS?|FTP|NO|ALL)_PROXY)$')
# This shell stays as the first process, which takes in orphans.
# shellcheck disable=SC2016  # the inner shell expands them
setpriv --reuid "$user" --regid "$(id -g "$user")" --init-groups \
  env -i "${variables[@]}" bash -c 'cd "$1" && shift && exec "$@"' bash "$directory" "$@"
