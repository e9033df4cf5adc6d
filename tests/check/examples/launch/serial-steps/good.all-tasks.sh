#!/bin/bash
#SBATCH --ntasks=4
for seed in 1 2; do
  srun python train.py --seed $seed
done
wait
