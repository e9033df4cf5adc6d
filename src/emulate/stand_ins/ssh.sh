#!/bin/bash
# ssh between the nodes of the cluster, for tools that start their parts by it: a step of your job there, as sites adopt such sessions.
# Elsewhere there is nothing to reach from a rehearsal.
here=${BASH_SOURCE[0]%/*}
# shellcheck source=/dev/null
. "$here/../lib/common.sh"
# shellcheck source=/dev/null
. "$here/../lib/ssh_step.sh"

# The options of ssh that take a value, behind them or attached.
hpcml_with_value=BbcDEeFIiJLlmOopQRSWw

main() {
  local words=("$@") host='' user='' terminal='' me=${USER:-$(id -un)} letters job name
  while (($#)); do
    case $1 in
      --) shift && break ;;
      -?*)
        letters=${1#-}
        shift
        while [[ -n $letters ]]; do
          if [[ $hpcml_with_value == *"${letters:0:1}"* ]]; then
            if [[ -z ${letters:1} ]]; then
              (($#)) || hpcml_fail ssh 255 "option requires an argument -- ${letters:0:1}" "${words[@]}"
              [[ $letters != l* ]] || user=$1
              shift
            fi
            break
          fi
          case ${letters:0:1} in
            t) terminal=--pty ;;
            n) exec </dev/null ;;
            V) echo "ssh of a rehearsal (hpcml emulate)" >&2 && exit 0 ;;
          esac
          letters=${letters:1}
        done
        ;;
      *)
        [[ -z $host ]] || break # the command begins
        host=$1
        shift
        ;;
    esac
  done
  [[ -n $host ]] || hpcml_fail ssh 255 "which host? usage: ssh [options] HOST [COMMAND...]" "${words[@]}"
  host=${host#ssh://}
  [[ $host != *@* ]] || user=${host%@*} host=${host##*@}
  [[ -z $user || $user == "$USER" ]] || hpcml_fail ssh 255 "$user@$host: Permission denied (publickey): in a rehearsal there is only $me" "${words[@]}"
  name=${host%%.*}
  scontrol show node "$name" >/dev/null 2>&1 ||
    hpcml_fail ssh 255 "Could not resolve hostname $host: it is no node of this rehearsal, which reaches nothing else" "${words[@]}"
  job=$(hpcml_job_on "$name" "$me")
  [[ -n $job ]] || hpcml_fail ssh 255 "$(hpcml_no_job "$name")" "${words[@]}"
  hpcml_record ssh true "${words[@]}"
  # The command's words are one line for the user's shell, as sshd has it.
  local line=()
  (($# == 0)) || line=("$*")
  hpcml_ssh_step "$job" "$name" "$me" "${terminal:---unbuffered}" "${line[@]}"
}
main "$@"
