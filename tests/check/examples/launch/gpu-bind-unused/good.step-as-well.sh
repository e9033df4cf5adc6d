#!/bin/bash
#SBATCH --nodes=1 --gpus-per-node=4 --ntasks=4 --gpu-bind=closest
python prepare.py
srun python train.py
