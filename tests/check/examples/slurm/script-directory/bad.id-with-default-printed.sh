#!/bin/bash
#SBATCH --nodes=1
SCRIPT_DIR="$(cd "$(dirname "$0")" && pwd)"
echo "Job: ${SLURM_JOB_ID:-local}"
srun python "$SCRIPT_DIR/train.py"
