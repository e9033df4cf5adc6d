#!/bin/bash
#SBATCH -p cpu6000g
##SBATCH --time=10
srun true
