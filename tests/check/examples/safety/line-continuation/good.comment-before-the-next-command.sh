#!/bin/bash
#SBATCH --time=10
for i in 1 2; do
  python train.py \
    --seed $i \
  # next one
  echo $i
done
