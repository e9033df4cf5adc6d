#!/bin/bash
#SBATCH --nodes=1 --ntasks-per-node=16 --gpus-per-node=2
srun python simulate.py
