#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=4
RANK=$SLURM_PROCID srun python train.py
