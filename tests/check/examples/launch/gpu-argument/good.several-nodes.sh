#!/bin/bash
#SBATCH --nodes=2 --gres=gpu:4 --time=10
srun python main.py --gpus 8
