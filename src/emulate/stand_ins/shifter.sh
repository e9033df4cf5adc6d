#!/bin/bash
# shifter: runs a program in the image that the job named, with its volumes, as the stand-in of singularity does it.
here=${BASH_SOURCE[0]%/*}
# shellcheck source=/dev/null
. "$here/../lib/common.sh"
words=("$@") options=()
fail() { hpcml_fail shifter 1 "$1" "${words[@]}"; }
take() { # OPTION VALUE
  case $1 in
    -V | --volume)
      local volume
      local -a volumes
      IFS=';' read -ra volumes <<< "$2"
      for volume in "${volumes[@]}"; do options+=(--bind "$volume"); done
      ;;
    -e | --env) options+=(--env "$2") ;;
    -w | --workdir) options+=(--pwd "$2") ;;
  esac
}
while (($#)); do
  case $1 in
    -V | --volume | -e | --env | -w | --workdir | -i | --image | -m | --module)
      (($# > 1)) || fail "$1 needs a value"
      take "$1" "$2"
      shift
      ;;
    --volume=* | --env=* | --workdir=* | --image=* | --module=*) take "${1%%=*}" "${1#*=}" ;;
    -[Vewim]?*) take "${1:0:2}" "${1:2}" ;;
    --) shift && break ;;
    -*) fail "option $1 is not emulated (--image, --module, --volume, --env and --workdir are)" ;;
    *) break ;;
  esac
  shift
done
(($#)) || fail "no program to run in the image"
hpcml_record shifter true "${words[@]}"
# shellcheck disable=SC2154 # from common.sh
image=$hpcml_state/image/shifter.img
: >> "$image"
exec "$hpcml_state/bin/singularity" exec "${options[@]}" "$image" "$@"
