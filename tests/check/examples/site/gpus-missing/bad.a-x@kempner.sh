#!/bin/bash
#SBATCH -A x
#SBATCH -p kempner
#SBATCH --mem=4G
#SBATCH -t 10
srun true
