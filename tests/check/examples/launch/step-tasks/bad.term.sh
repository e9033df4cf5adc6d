#!/bin/bash
#SBATCH --nodes=3 --ntasks=3
srun -N $((SLURM_NNODES-1)) python train.py
