#!/bin/bash
#SBATCH --nodes=2 --gpus-per-node=4 --time=36
srun ./workers --block &
python train.py
