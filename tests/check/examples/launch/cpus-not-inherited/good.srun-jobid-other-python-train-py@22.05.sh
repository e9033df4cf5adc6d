#!/bin/bash
#SBATCH --ntasks=4 --cpus-per-task=8
srun --jobid $OTHER python train.py
