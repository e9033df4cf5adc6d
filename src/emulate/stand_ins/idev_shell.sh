#!/bin/bash
# The shell of idev: what the job's batch script would have, and nothing of the step that brings it to the node.
for name in "${!SLURM_STEP@}"; do unset "$name"; done
unset SLURM_TASK_PID SLURM_GTIDS SLURM_SRUN_COMM_HOST SLURM_SRUN_COMM_PORT SLURM_LAUNCH_NODE_IPADDR SLURM_MPI_TYPE SLURM_PTY_PORT \
  SLURM_PTY_WIN_COL SLURM_PTY_WIN_ROW
exec "${SHELL:-/bin/bash}"
