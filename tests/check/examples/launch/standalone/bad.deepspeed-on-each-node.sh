#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=1 --cpus-per-task=32 --gpus-per-node=4 --time=10
srun -c32 deepspeed --num_gpus 4 train.py
