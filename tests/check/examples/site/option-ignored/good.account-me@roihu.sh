#!/bin/bash
#SBATCH --account=me
#SBATCH -t 60
#SBATCH -p small
#SBATCH --mem=100G
srun true
