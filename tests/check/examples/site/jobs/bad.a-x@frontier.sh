#!/bin/bash
#SBATCH -A x
#SBATCH -t 10
#SBATCH -N1
#SBATCH -p batch
#SBATCH --array=0-100%4
srun true
