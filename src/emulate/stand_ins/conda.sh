#!/bin/bash
# conda, as far as scripts use it before their environment is active.
here=${BASH_SOURCE[0]%/*}
# shellcheck source=/dev/null
. "$here/../lib/common.sh"
# shellcheck disable=SC2154 # from site.sh
case "${1-} ${2-}" in
  "info --base") hpcml_record conda true "$@" && echo "$hpcml_state/conda" ;;
  "shell.bash hook") hpcml_record conda true "$@" && echo ". '$hpcml_state/conda/etc/profile.d/conda.sh'" ;;
  "env list" | "info --envs" | "info -e")
    hpcml_record conda true "$@"
    for name in "${hpcml_conda_envs[@]}"; do echo "$name  $hpcml_state/conda/envs/$name"; done
    ;;
  "activate "* | "deactivate "*)
    hpcml_fail conda 1 "run 'source \$(conda info --base)/etc/profile.d/conda.sh' before 'conda $1'" "$@"
    ;;
  *) hpcml_fail conda 1 "'$*' is not emulated; the profile's environments are: ${hpcml_conda_envs[*]}" "$@" ;;
esac
