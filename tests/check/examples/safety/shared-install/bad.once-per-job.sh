#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=4 --time=10
pip install -e .
srun --ntasks=1 pip install ninja
srun python train.py
