#!/bin/bash
# Stands for a program that the site does not have, so that one of this machine is not taken for it.
here=${BASH_SOURCE[0]%/*}
# shellcheck source=/dev/null
. "$here/../lib/common.sh"
# shellcheck disable=SC2154 # from site.sh
hpcml_fail "${0##*/}" 127 "command not found ($hpcml_site_name does not have it)" "$@"
