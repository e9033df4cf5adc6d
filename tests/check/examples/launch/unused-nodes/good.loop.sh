#!/bin/bash
#SBATCH --nodes=2 --gpus-per-node=4
for i in 0 1; do
  srun -N1 -n1 python train.py $i &
done
wait
