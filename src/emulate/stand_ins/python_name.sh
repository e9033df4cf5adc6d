#!/bin/bash
# python where this machine has python3 alone: modules and environments of a site bring both names.
here=${BASH_SOURCE[0]%/*}
# shellcheck source=/dev/null
. "$here/../lib/common.sh"
hpcml_assume python "'python'"
# shellcheck disable=SC2154 # from site.sh
exec "$hpcml_python" "$@"
