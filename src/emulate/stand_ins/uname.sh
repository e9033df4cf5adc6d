#!/bin/bash
# uname of the site: where it prints this machine's architecture, it prints that of the emulated node.
here=${BASH_SOURCE[0]%/*}
# shellcheck source=/dev/null
. "$here/../lib/site.sh"
machine=$(command -p uname -m)
text=$(command -p uname "$@") || exit
# shellcheck disable=SC2154 # from site.sh
printf '%s\n' "${text//"$machine"/"${hpcml_arch:-$machine}"}"
