#!/bin/bash
# container_root MOUNTPOINT DIRECTORY USER:GROUP COUNT SRC DST … PROGRAM…: in a private mount namespace, puts each SRC at DST and runs the program.
# Where DST does not exist here, the directories above it are rebuilt on a tmpfs, so that this machine gets no new file.
root=$1 where=$2 user=$3 count=$4
shift 4
pairs=("${@:1:count}")
shift "$count"
declare -A opened=()
die() {
  printf 'container: %s\n' "$1" >&2
  exit 255
}

needs_root=0
for ((i = 0; i < count; i += 2)); do
  target=${pairs[i + 1]}
  if [[ -d ${pairs[i]} && -d $target ]] || [[ ! -d ${pairs[i]} && -f $target ]]; then continue; fi
  needs_root=1
  above=${target%/*}
  while [[ -n $above && ! -d $above ]]; do above=${above%/*}; done
  # a link among the directories above would be lost: open what it leads to
  above=$(realpath -- "${above:-/}")
  while [[ $above != / && -n $above ]]; do
    opened[$above]=1
    above=${above%/*}
  done
done

put() { # SRC DST
  if [[ -d $1 ]]; then
    mkdir -p -- "$2"
  elif [[ ! -e $2 ]]; then
    mkdir -p -- "${2%/*}"
    : > "$2"
  fi
  mount --rbind -- "$1" "$2" || die "cannot bind $1"
}

populate() { # DIRECTORY ("" is /)
  local entry
  for entry in "$1"/* "$1"/.[!.]*; do
    if [[ -L $entry ]]; then
      cp -d -- "$entry" "$root$entry"
    elif [[ -n ${opened[$entry]-} ]]; then
      mkdir -- "$root$entry" && populate "$entry"
    elif [[ -e $entry ]]; then
      put "$entry" "$root$entry"
    fi
  done
}

if ((needs_root)); then
  mkdir -p -- "$root"
  mount -t tmpfs -o mode=0755 none "$root" || die "this machine does not allow a private file system"
  populate ""
  prefix=$root
else
  prefix=''
fi
for ((i = 0; i < count; i += 2)); do
  put "${pairs[i]}" "$prefix${pairs[i + 1]}"
done
[[ -n $user ]] && set -- unshare --user --map-user="${user%:*}" --map-group="${user#*:}" -- "$@"
if ((needs_root)); then
  # not chroot: in one, the kernel lets nobody make a user namespace
  { cd -- "$root" && pivot_root . . && umount -l .; } || die "this machine does not allow to change the root"
fi
cd -- "$where" 2> /dev/null || cd / || exit 255
exec "$@"
