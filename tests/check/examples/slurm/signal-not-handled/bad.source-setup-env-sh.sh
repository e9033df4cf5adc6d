#!/bin/bash
#SBATCH --signal=B:USR1@120
source setup_env.sh
srun python train.py
