#!/bin/bash
#SBATCH -A example -p partition
srun python train.py
