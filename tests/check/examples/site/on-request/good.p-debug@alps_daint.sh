#!/bin/bash
#SBATCH --account=g1
#SBATCH -p debug
#SBATCH -N1
#SBATCH -t 10
srun true
