#!/bin/bash
#SBATCH --account=def-me --nodes=1 --gpus-per-node=a100:4 --ntasks-per-node=4 --cpus-per-task=12 --mem=0 --time=1:00:00
srun mkdir -p out
srun hpcml launch --site=rorqual -- python train.py
srun hpcml launch --site=rorqual -- python test.py
