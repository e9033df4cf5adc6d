#!/bin/bash
# python3 as a site's modules bring it: this machine's Python, whose `-m venv` makes environments with a pip that needs no network.
here=${BASH_SOURCE[0]%/*}
# shellcheck source=/dev/null
. "$here/../lib/site.sh"
# shellcheck disable=SC2154 # from site.sh
if [[ ${1-} != -m || ${2-} != venv ]]; then exec "$hpcml_python" "$@"; fi
# shellcheck source=/dev/null
. "$here/../lib/common.sh"
# shellcheck source=/dev/null
. "$here/../lib/python_env.sh"
words=("$@")
shift 2
options=() folders=()
while (($#)); do
  case $1 in
    --prompt) options+=("$1" "${2-}") && shift ;;
    --) shift && folders+=("$@") && break ;;
    --help | -h) exec "$hpcml_python" -m venv --help ;;
    -*) options+=("$1") ;;
    *) folders+=("$1") ;;
  esac
  shift
done
((${#folders[@]} > 0)) || hpcml_fail python3 2 "-m venv: no directory given" "${words[@]}"
for folder in "${folders[@]}"; do
  hpcml_make_env "$folder" --any-index -- "${options[@]}" || hpcml_fail python3 1 "-m venv: could not make $folder" "${words[@]}"
done
hpcml_record python3 true "${words[@]}"
