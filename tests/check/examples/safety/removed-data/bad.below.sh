#!/bin/bash
#SBATCH --time=10
rm -r /scratch/me/set
srun python train.py --data-path=/scratch/me/set/train
