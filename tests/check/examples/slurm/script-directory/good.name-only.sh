#!/bin/bash
#SBATCH --nodes=1 --time=10
echo "this is $(basename $0)"
srun python train.py
