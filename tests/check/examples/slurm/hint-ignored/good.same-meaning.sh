#!/bin/bash
#SBATCH --ntasks=4 --hint=nomultithread --threads-per-core=1
srun python train.py
