#!/bin/bash
#SBATCH --signal=B:USR1@120
source ~/.bashrc
eval "$(conda shell.bash hook)"
conda activate x
srun python train.py
