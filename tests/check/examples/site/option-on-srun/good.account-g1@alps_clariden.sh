#!/bin/bash
#SBATCH --account=g1
#SBATCH -N1
#SBATCH -t 10
srun --environment=pytorch true
