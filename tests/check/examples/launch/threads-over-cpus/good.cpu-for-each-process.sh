#!/bin/bash
#SBATCH --nodes=1 --ntasks-per-node=1 --cpus-per-task=4 --gres=gpu:4
srun deepspeed --num_gpus=4 train.py
