#!/bin/bash
#SBATCH -N1 -n4 --time=10
srun -n1 python prepare.py &
wait
srun python train.py &
wait
