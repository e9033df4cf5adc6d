#!/bin/bash
#SBATCH --gres=gpu:4 --constraint=v100-32g
srun python train.py --bf16 --lr 1e-4
