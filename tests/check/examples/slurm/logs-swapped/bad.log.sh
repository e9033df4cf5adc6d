#!/bin/bash
#SBATCH -o logs/run.err
#SBATCH -e logs/run.log
srun python train.py
