#!/bin/bash
#SBATCH --ntasks=4 --cpus-per-task=8
export SLURM_CPUS_PER_TASK=4
srun -c4 python train.py
