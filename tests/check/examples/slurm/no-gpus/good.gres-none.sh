#!/bin/bash
#SBATCH --gres=none
srun python train.py
