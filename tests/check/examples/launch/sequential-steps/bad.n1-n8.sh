#!/bin/bash
#SBATCH -N1 -n8
for i in 1 2 3; do srun -n2 python run.py $i & done
wait
