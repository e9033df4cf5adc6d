#!/bin/bash
# sacct where the rehearsal keeps no accounts: says how to have them.
here=${BASH_SOURCE[0]%/*}
# shellcheck source=/dev/null
. "$here/../lib/common.sh"
hpcml_fail sacct 1 "Slurm accounting storage is disabled in this rehearsal: start it with hpcml emulate --accounting (or --accounts NAME), which needs slurmdbd and mariadb-server-core" "$@"
