#!/bin/bash
#SBATCH --ntasks=4
srun -n1 python train.py
wait
