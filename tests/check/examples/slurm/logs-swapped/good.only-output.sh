#!/bin/bash
#SBATCH --output=%j.err
srun python train.py
