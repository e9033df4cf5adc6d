#!/bin/bash
# Run by slurmd before each task: what it prints as "export NAME=value" is in the task's environment.
dir=@STATE_DIR@/local/${SLURM_JOB_USER:-$USER}.$SLURM_JOB_ID.0
mkdir -p "$dir" && echo "export SLURM_TMPDIR=$dir"
