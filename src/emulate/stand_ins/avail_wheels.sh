#!/bin/bash
# Lists the site's wheels: those of the rehearsal are what this machine's Python has.
here=${BASH_SOURCE[0]%/*}
# shellcheck source=/dev/null
. "$here/../lib/common.sh"
tool=${0##*/}
# shellcheck disable=SC2154 # from site.sh
[[ -n $hpcml_python ]] || hpcml_fail "$tool" 1 "this machine has no Python, which the wheels would be from" "$@"
# shellcheck disable=SC2154 # from common.sh
if "$hpcml_python" "$hpcml_state/lib/avail_wheels.py" "$tool" "$@"; then
  hpcml_record "$tool" true "$@"
else
  hpcml_record "$tool" false "$@"
  exit 1
fi
