#!/bin/bash
#SBATCH -A project_465000001
#SBATCH -p standard-g -N1 -t 10
#SBATCH --gpus-per-node=8 --ntasks-per-node=8
srun hpcml launch -- python train.py
