#!/bin/bash
# What a node's sshd runs for each session.
here=${BASH_SOURCE[0]%/*}
# shellcheck source=/dev/null
. "$here/common.sh"
# shellcheck source=/dev/null
. "$here/ssh_step.sh"
# shellcheck source=/dev/null
. "$here/sshd_settings.sh"

main() {
  local node job option=--unbuffered
  read -r node < /proc/sys/kernel/hostname
  # shellcheck disable=SC2154 # from sshd_settings.sh
  job=$(hpcml_job_on "$node" "$hpcml_user")
  # It may have ended since the login.
  [[ -n $job ]] || hpcml_fail sshd 255 "$(hpcml_no_job "$node")" "${SSH_ORIGINAL_COMMAND-}"
  hpcml_record sshd true "${SSH_ORIGINAL_COMMAND-}"
  [[ -z ${SSH_TTY-} ]] || option=--pty
  # shellcheck disable=SC2034 # read by the step
  hpcml_session_env=("SSH_CLIENT=$SSH_CLIENT" "SSH_CONNECTION=$SSH_CONNECTION" "SSH_AUTH_SOCK=${SSH_AUTH_SOCK:-$hpcml_state/ssh/agent}")
  hpcml_ssh_step "$job" "$node" "$hpcml_user" "$option" ${SSH_ORIGINAL_COMMAND+"$SSH_ORIGINAL_COMMAND"}
}
main
