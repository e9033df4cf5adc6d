#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=4 --time=10
srun pip install -e .
srun python train.py
