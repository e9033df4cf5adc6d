#!/bin/bash
#SBATCH -N1 -n4
# no mp.spawn( here
srun python train.py
