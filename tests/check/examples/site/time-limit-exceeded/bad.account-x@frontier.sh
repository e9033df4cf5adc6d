#!/bin/bash
#SBATCH --account=x
#SBATCH -N 10
#SBATCH --time=03:00:00
srun true
