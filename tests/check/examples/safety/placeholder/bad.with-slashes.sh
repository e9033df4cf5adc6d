#!/bin/bash
#SBATCH --account=/your/account -t 10
srun python train.py
