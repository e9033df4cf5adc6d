#!/bin/bash
#SBATCH --ntasks=1 --cpus-per-task=2
PYTHON=${PYTHON:-python3}
srun $PYTHON train.py --num_workers=8
