#!/bin/bash
# cotainr: checks what it is asked as the site's does, and makes an image whose environment is this machine's Python.
here=${BASH_SOURCE[0]%/*}
# shellcheck source=/dev/null
. "$here/../lib/common.sh"
words=("$@")
fail() { hpcml_fail cotainr "${2:-1}" "$1" "${words[@]}"; }

need_module() {
  local entry
  # shellcheck disable=SC2154 # from site.sh
  for entry in "${hpcml_modules[@]#*|}"; do
    if [[ ${entry%%/*} == cotainr && ":${LOADEDMODULES-}" != *:cotainr* ]]; then
      fail "command not found: it comes with its module, module load cotainr" 127
    fi
  done
}

check_base() { # BASE
  [[ $1 == *://* || -e $1 ]] && return
  # shellcheck disable=SC2154 # from site.sh
  hpcml_among "$1" "${hpcml_site_paths[@]}" || fail "the base image $1 does not exist"
}

check_environment() { # FILE
  [[ -r $1 ]] || fail "cannot read the environment's file $1"
  grep -q '^dependencies:' -- "$1" || fail "$1 has no \"dependencies:\", so it is no environment of conda"
}

main() {
  need_module
  case ${1-} in
    build) shift ;;
    --version) echo "cotainr (emulated by hpcml)" && exit 0 ;;
    *) fail "'${1-}' is not emulated (build is)" 2 ;;
  esac
  local image='' base='' answer
  while (($#)); do
    case $1 in
      --base-image | --system | --conda-env)
        (($# > 1)) || fail "$1 needs a value" 2
        set -- "$1=$2" "${@:3}"
        continue
        ;;
      --base-image=*) base=${1#*=} && check_base "$base" ;;
      --system=*) base=${1#*=} ;;
      --conda-env=*) check_environment "${1#*=}" ;;
      --accept-licenses | -v | -vv | --verbose | -q | --quiet | --log-to-file | --log-file-path=* | --no-color) ;;
      -*) fail "unknown option $1" 2 ;;
      *) image=$1 ;;
    esac
    shift
  done
  [[ -n $image ]] || fail "no image to build is named" 2
  [[ -n $base ]] || fail "one of --base-image and --system is needed" 2
  # shellcheck disable=SC2154 # from site.sh
  ((hpcml_internet)) || [[ -z ${SLURM_JOB_ID-} ]] || fail "$hpcml_site_name's compute nodes have no internet: build on a login node"
  if [[ -e $image ]]; then
    printf '%s already exists. Would you like to overwrite it? ' "$image"
    read -r answer || fail "$image already exists, and nobody answers whether to overwrite it"
    [[ $answer == [yY]* ]] || exit 0
  fi
  { printf 'hpcml: an image that cotainr built on %s\n' "$base" > "$image"; } 2> /dev/null || fail "cannot write $image"
  hpcml_record cotainr true "${words[@]}"
  echo "Successfully built container $image"
}
main "$@"
