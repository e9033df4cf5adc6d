#!/bin/bash
#SBATCH --time=10
srun python train.py
echo done
seff "${SLURM_JOBID}"
