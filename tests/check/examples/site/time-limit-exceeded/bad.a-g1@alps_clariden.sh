#!/bin/bash
#SBATCH -A g1
#SBATCH -p debug
#SBATCH -N 4
#SBATCH -t 60
srun true
