#!/bin/bash
# Who connects to port 22 of a node gets the machine's sshd; without a job there it lets nobody in, and says why.
here=${BASH_SOURCE[0]%/*}
# shellcheck source=/dev/null
. "$here/common.sh"
# shellcheck source=/dev/null
. "$here/ssh_step.sh"
# shellcheck source=/dev/null
. "$here/sshd_settings.sh"

main() {
  local node options=()
  read -r node < /proc/sys/kernel/hostname
  # shellcheck disable=SC2154 # from sshd_settings.sh
  if [[ -z $(hpcml_job_on "$node" "$hpcml_user") ]]; then
    local reason="$hpcml_state/ssh/refused.$node"
    printf '%s\n' "$(hpcml_no_job "$node")" >"$reason"
    options=(-o "Banner=$reason" -o AuthorizedKeysFile=none)
    hpcml_record sshd false
  fi
  # shellcheck disable=SC2154
  exec "$hpcml_sshd" -i -f "$hpcml_state/ssh/sshd_config" -E "$hpcml_state/log/sshd.$node.log" "${options[@]}"
}
main
