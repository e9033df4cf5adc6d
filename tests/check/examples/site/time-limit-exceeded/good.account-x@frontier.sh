#!/bin/bash
#SBATCH --account=x
#SBATCH -N 100
#SBATCH --time=03:00:00
srun true
