#!/bin/bash
#SBATCH --output=%j.err --error=%j.err
srun python train.py
