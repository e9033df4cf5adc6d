#!/bin/bash
# virtualenv with a wheelhouse beside it: `pip install --no-index` then takes packages from the Python of this machine.
here=${BASH_SOURCE[0]%/*}
# shellcheck source=/dev/null
. "$here/../lib/common.sh"
# shellcheck source=/dev/null
. "$here/../lib/python_env.sh"
# shellcheck disable=SC2154 # from site.sh
main() {
  local words=("$@") dirs=() clear=() offline=0
  while (($#)); do
    case $1 in
      --no-download | --never-download) offline=1 ;;
      --clear) clear=(--clear) ;;
      --prompt | -p | --python) shift ;;
      --prompt=* | --python=* | -q | --quiet | --system-site-packages) ;;
      --) shift && dirs+=("$@") && break ;;
      -*) hpcml_fail virtualenv 2 "unknown option $1" "${words[@]}" ;;
      *) dirs+=("$1") ;;
    esac
    shift
  done
  ((${#dirs[@]} > 0)) || hpcml_fail virtualenv 2 "no directory given" "${words[@]}"
  ((${#dirs[@]} == 1)) || hpcml_fail virtualenv 2 "more than one directory given: ${dirs[*]}" "${words[@]}"
  [[ -n $hpcml_python ]] || hpcml_fail virtualenv 1 "this machine has no Python to make an environment with" "${words[@]}"
  if ((!offline && !hpcml_internet)); then
    hpcml_fail virtualenv 1 "$hpcml_site_name's compute nodes have no internet: add --no-download" "${words[@]}"
  fi
  hpcml_make_env "${dirs[0]}" -- "${clear[@]}" || hpcml_fail virtualenv 1 "could not make ${dirs[0]}" "${words[@]}"
  hpcml_record virtualenv true "${words[@]}"
}
main "$@"
