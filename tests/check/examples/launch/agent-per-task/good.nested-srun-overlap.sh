#!/bin/bash
#SBATCH --nodes=1 --ntasks=8 -t 5
srun -n1 bash -c 'srun --overlap -n8 python train.py'
