#!/bin/bash
#SBATCH --ntasks=4 --cpus-per-task=4 --gpus-per-node=4 --nodes=1 --time=10
srun python train.py --num-workers=16
