#!/bin/bash
#SBATCH -N1 -n4 -c4 --gres=gpu:4 --mem=64G
for i in 0 1 2 3; do
  srun -n1 --gres=gpu:1 --mem=16G python train.py --seed $i &
done
wait
