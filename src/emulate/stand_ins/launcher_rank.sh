#!/bin/bash
# One rank of ibrun or bede-mpirun: the site's rank variables instead of Slurm's.
here=${BASH_SOURCE[0]%/*}
# shellcheck source=/dev/null
. "$here/site.sh"
# shellcheck disable=SC2154 # the names are from site.sh
{
  [[ -n $hpcml_rank_variable ]] && export "$hpcml_rank_variable=$SLURM_PROCID"
  [[ -n $hpcml_local_rank_variable ]] && export "$hpcml_local_rank_variable=$SLURM_LOCALID"
  [[ -n $hpcml_world_size_variable ]] && export "$hpcml_world_size_variable=$SLURM_STEP_NUM_TASKS"
}
# What the batch script had: a program that relies on Slurm's per-task variables fails here as it does on the site.
restore() {
  if [[ -n $2 ]]; then export "$1=$2"; else unset "$1"; fi
}
restore SLURM_PROCID "${HPCML_LAUNCHER_PROCID-}"
restore SLURM_LOCALID "${HPCML_LAUNCHER_LOCALID-}"
restore SLURM_NODEID "${HPCML_LAUNCHER_NODEID-}"
unset HPCML_LAUNCHER_PROCID HPCML_LAUNCHER_LOCALID HPCML_LAUNCHER_NODEID
for name in "${!SLURM_STEP@}"; do
  # Without the step's number Open MPI believes that nobody started it, and each rank is a world of its own.
  [[ $name == SLURM_STEP_ID ]] || unset "$name"
done
unset SLURM_TASK_PID SLURM_GTIDS SLURM_SRUN_COMM_HOST SLURM_SRUN_COMM_PORT SLURM_LAUNCH_NODE_IPADDR
exec "$@"
