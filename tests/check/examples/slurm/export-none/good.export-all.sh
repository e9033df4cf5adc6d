#!/bin/bash
#SBATCH --export=ALL
srun python train.py
