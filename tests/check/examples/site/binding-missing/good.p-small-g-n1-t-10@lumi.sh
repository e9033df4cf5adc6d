#!/bin/bash
#SBATCH -A project_465000001
#SBATCH -p small-g -n1 -t 10
#SBATCH --gpus-per-node=1
srun python train.py
