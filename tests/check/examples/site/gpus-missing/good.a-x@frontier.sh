#!/bin/bash
#SBATCH -A x
#SBATCH -N1
#SBATCH -t 10
srun true
