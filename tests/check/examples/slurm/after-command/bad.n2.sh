#!/bin/bash
#SBATCH -N2
module load x
#SBATCH --time=10
srun true
