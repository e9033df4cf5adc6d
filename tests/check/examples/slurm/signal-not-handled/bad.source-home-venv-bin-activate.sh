#!/bin/bash
#SBATCH --signal=B:USR1@120
source $HOME/venv/bin/activate
srun python train.py
