#!/bin/bash
# ssh between the nodes of the cluster, for tools that start their parts by it: a step of your job there, as sites adopt such sessions.
# Elsewhere there is nothing to reach from a rehearsal.
here=${BASH_SOURCE[0]%/*}
# shellcheck source=/dev/null
. "$here/../lib/common.sh"

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
  # The job of the caller first, if it is on that node.
  job=$(squeue -h -t R -u "$me" -w "$name" -o %A | sort -n | awk -v mine="${SLURM_JOB_ID-}" '{ last = $1 } $1 == mine { found = 1 } END { print found ? mine : last }')
  [[ -n $job ]] || hpcml_fail ssh 255 "Access denied by pam_slurm_adopt: you have no active jobs on $name" "${words[@]}"
  hpcml_record ssh true "${words[@]}"
  local shell=${SHELL:-/bin/bash} step=("${terminal:---unbuffered}")
  # What the session has is the user's, not the step's; a command is one line for his shell, as sshd has it.
  local inner=(env -C "$HOME" -i HOME="$HOME" USER="$me" LOGNAME="$me" SHELL="$shell" PATH="$PATH" SLURM_CONF="${SLURM_CONF-}" TERM="${TERM-dumb}" "$shell")
  if (($#)); then inner+=(-c "$*"); else inner+=(-l); fi
  # The step asks for nothing that the job has given to others.
  # shellcheck disable=SC2154 # from site.sh
  exec env -u SLURM_NTASKS -u SLURM_NPROCS -u SLURM_NTASKS_PER_NODE -u SLURM_DISTRIBUTION -u SLURM_CPU_BIND "$hpcml_srun" --jobid="$job" --overlap --quiet \
    --nodelist="$name" --nodes=1 --ntasks=1 --cpu-bind=none --export=ALL "${step[@]}" "${inner[@]}"
}
main "$@"
