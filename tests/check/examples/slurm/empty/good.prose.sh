#!/bin/bash
#SBATCH --time=10
# Use python or srun for this.
echo "$SLURM_JOB_ID"
