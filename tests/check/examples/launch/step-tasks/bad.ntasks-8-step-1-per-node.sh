#!/bin/bash
#SBATCH --nodes=2 --ntasks=8 --time=10
srun --ntasks-per-node=1 mkdir -p /tmp/env
srun python train.py
