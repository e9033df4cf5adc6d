#!/bin/bash
#SBATCH -N 2 -c 40 --gres=gpu:2 -t 24:00:00
srun python train.py --accelerator ddp --gpus 2 --num_nodes 2
