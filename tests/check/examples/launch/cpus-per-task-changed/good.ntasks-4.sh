#!/bin/bash
#SBATCH --ntasks=4
export SLURM_CPUS_PER_TASK=4
srun python train.py
