#!/bin/bash
#SBATCH -p rome
#SBATCH -t 10
#SBATCH -n1
#SBATCH --cpus-per-task=128
#SBATCH --mem-per-cpu=8G
srun true
