#!/bin/bash
#SBATCH --nodes=1 --time=10
here=${SLURM_SUBMIT_DIR:-$(dirname "$0")}
srun python "$here/train.py"
