#!/bin/bash
#SBATCH --nodes=2-5 --segment=2 -t 10
srun python train.py
