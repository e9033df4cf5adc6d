#!/bin/bash
#SBATCH --output=%x-%j.log
srun python train.py
