#!/bin/bash
#SBATCH --nodes=1 --time=10
export > variables.txt
A=1
srun python train.py $A
