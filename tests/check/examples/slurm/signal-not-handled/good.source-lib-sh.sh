#!/bin/bash
#SBATCH --signal=B:USR1@120
source lib.sh
srun python train.py
