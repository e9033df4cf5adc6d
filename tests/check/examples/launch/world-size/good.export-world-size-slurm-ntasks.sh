#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=4
export WORLD_SIZE=$SLURM_NTASKS
srun python train.py
