#!/bin/bash
#SBATCH --nodes=1 --ntasks=1 --time=10
sbatch --nodes=4 --wrap "srun --nodes=4 python train.py"
