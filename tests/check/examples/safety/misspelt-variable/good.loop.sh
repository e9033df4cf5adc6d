#!/bin/bash
#SBATCH --time=10
seeds="1 2 3"
for seed in $seeds; do
  python train.py --seed $seed
done
