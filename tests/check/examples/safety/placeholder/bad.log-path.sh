#!/bin/bash
#SBATCH --output=/your/path/%j --time=10
srun python train.py
