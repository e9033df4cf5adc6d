#!/bin/bash
#SBATCH --account=g1
#SBATCH --partition=low,normal
#SBATCH -N2
#SBATCH -t 60
srun true
