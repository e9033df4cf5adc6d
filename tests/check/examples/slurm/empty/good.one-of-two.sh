#!/bin/bash
#SBATCH --time=10 --gpus=1
module load cuda
# python train.py --scene 1
python train.py --scene 2
