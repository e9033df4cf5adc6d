#!/bin/bash
#SBATCH --nodes=4 --ntasks-per-node=1
for fold in 0 1 2 3; do
  srun --nodes=1 --ntasks=1 python train.py --fold $fold
done
wait
