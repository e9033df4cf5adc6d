#!/bin/bash
#SBATCH --ntasks=120 --cpus-per-task=10 --mem-per-cpu=10G
srun python train.py
