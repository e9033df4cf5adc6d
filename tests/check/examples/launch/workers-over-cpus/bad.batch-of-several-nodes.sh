#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=1 --cpus-per-task=4 --gpus-per-node=1
python train.py --num_workers 16
