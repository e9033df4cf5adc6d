#!/bin/bash
#SBATCH --hint=multithread --threads-per-core=1
srun python train.py
