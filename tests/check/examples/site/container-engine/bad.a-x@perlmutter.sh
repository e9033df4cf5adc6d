#!/bin/bash
#SBATCH -A x
#SBATCH -C gpu
#SBATCH -q regular
#SBATCH -t 10
#SBATCH --gpus-per-node=4
srun apptainer exec a.sif python train.py
