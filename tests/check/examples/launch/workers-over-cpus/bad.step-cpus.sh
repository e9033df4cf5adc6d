#!/bin/bash
#SBATCH --ntasks=1 --cpus-per-task=8 --time=10
srun --cpus-per-task=4 python train.py --dataloader_num_workers 8
