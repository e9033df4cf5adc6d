#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=4 --gpus-per-node=4
srun -N1 -n1 python prepare.py
srun python train.py
