#!/bin/bash
#SBATCH --ntasks=1 --cpus-per-task=2
srun $HOME/miniconda3/envs/torch/bin/python train.py --num_workers 8
