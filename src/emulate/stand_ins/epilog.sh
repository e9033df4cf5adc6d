#!/bin/bash
# Run by slurmd on each node of a job at its end.
rm -rf "@STATE_DIR@/local/${SLURM_JOB_USER:?}.${SLURM_JOB_ID:?}.0"
