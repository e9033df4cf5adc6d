# shellcheck shell=bash
# Sourced by what takes a session to a node: who is let in, and the step that a session becomes, as sites adopt such sessions.

# hpcml_job_on NODE USER: his job there, the caller's own first; nothing where he has none.
hpcml_job_on() {
  squeue -h -t R -u "$2" -w "$1" -o %A </dev/null | sort -n | awk -v mine="${SLURM_JOB_ID-}" '{ last = $1 } $1 == mine { found = 1 } END { print found ? mine : last }'
}

# hpcml_no_job NODE: why he is not let in.
hpcml_no_job() { printf 'Access denied by pam_slurm_adopt: you have no active jobs on %s' "$1"; }

# What a session has besides, as NAME=VALUE.
hpcml_session_env=()

# hpcml_ssh_step JOB NODE USER OPTION [LINE]: OPTION is srun's for the terminal; a line is for the user's shell, without one it is a login shell.
hpcml_ssh_step() {
  local job=$1 node=$2 me=$3 option=$4 shell=${SHELL:-/bin/bash} inner
  shift 4
  # What the session has is the user's, not the step's.
  inner=(env -C "$HOME" -i HOME="$HOME" USER="$me" LOGNAME="$me" SHELL="$shell" PATH="$PATH" SLURM_CONF="${SLURM_CONF-}" TERM="${TERM-dumb}"
    "${hpcml_session_env[@]}" "$shell")
  if (($#)); then inner+=(-c "$1"); else inner+=(-l); fi
  # The step asks for nothing that the job has given to others; srun twice quiet does not say the exit code besides.
  # shellcheck disable=SC2154 # from site.sh
  exec env -u SLURM_NTASKS -u SLURM_NPROCS -u SLURM_NTASKS_PER_NODE -u SLURM_DISTRIBUTION -u SLURM_CPU_BIND "$hpcml_srun" --jobid="$job" --overlap --quiet --quiet \
    --nodelist="$node" --nodes=1 --ntasks=1 --cpu-bind=none --export=ALL "$option" "${inner[@]}"
}
