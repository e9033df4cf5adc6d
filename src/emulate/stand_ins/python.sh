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
options=() directories=()
while (($#)); do
  case $1 in
    --prompt) options+=("$1" "${2-}") && shift ;;
    --) shift && directories+=("$@") && break ;;
    --help | -h) exec "$hpcml_python" -m venv --help ;;
    -*) options+=("$1") ;;
    *) directories+=("$1") ;;
  esac
  shift
done
((${#directories[@]} > 0)) || hpcml_fail python3 2 "-m venv: no directory given" "${words[@]}"
for directory in "${directories[@]}"; do
  hpcml_make_env "$directory" --any-index -- "${options[@]}" || hpcml_fail python3 1 "-m venv: could not make $directory" "${words[@]}"
done
hpcml_record python3 true "${words[@]}"
