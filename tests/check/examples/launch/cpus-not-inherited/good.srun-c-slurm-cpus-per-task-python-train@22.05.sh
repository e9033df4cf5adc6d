#!/bin/bash
#SBATCH --ntasks=4 --cpus-per-task=8
srun -c $SLURM_CPUS_PER_TASK python train.py
