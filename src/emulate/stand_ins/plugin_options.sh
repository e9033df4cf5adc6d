#!/bin/bash
# sbatch, srun and salloc where images are started by options of Slurm's plugins: those options end here, and Slurm gets the rest.
here=${BASH_SOURCE[0]%/*}
# shellcheck source=/dev/null
. "$here/../lib/common.sh"
# shellcheck disable=SC2154 # from site.sh
options=("${hpcml_plugin_options[@]}") lines=$hpcml_plugin_lines

# True for an option of the site's plugins, with its value.
is_plugins() { hpcml_among "${1%%=*}" "${options[@]}"; }

main() {
  local tool=${0##*/} words=("$@") kept=() script='' last='-'
  while (($#)) && [[ $1 != -- && ($1 == -* || $last == -*) ]]; do
    # The word behind an option may be its value, or the first of the command.
    if [[ $1 != -* && -f $1 && $tool == sbatch ]]; then break; fi
    last=$1
    [[ $last != *=* ]] || last=''
    if [[ $1 != -* ]]; then
      kept+=("$1")
    elif ! is_plugins "$1"; then
      kept+=("$1")
    elif [[ $1 != *=* ]]; then
      (($# > 1)) || hpcml_fail "$tool" 1 "$1 needs a value" "${words[@]}"
      last=''
      shift
    fi
    shift
    if [[ -z $last && ${1-} != -* ]]; then break; fi
  done
  hpcml_record "$tool" true "${words[@]}"
  # shellcheck disable=SC2154 # from site.sh and common.sh
  local real=${hpcml_srun%/*}/$tool
  # shellcheck disable=SC2154
  [[ $tool != sbatch ]] || real=$hpcml_state/lib/sbatch
  if [[ $tool != sbatch || ! -f ${1-} ]]; then exec "$real" "${kept[@]}" "$@"; fi
  script=$1
  shift
  copy=$(mktemp -d) # not local: the trap runs outside of this function
  trap 'rm -rf -- "$copy"' EXIT
  sed -E "/^#SBATCH +(${lines})([= ]|\$)/d" -- "$script" > "$copy/${script##*/}"
  "$real" "${kept[@]}" "$copy/${script##*/}" "$@"
}
main "$@"
