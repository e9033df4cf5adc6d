#!/bin/bash
#SBATCH -N2 --ntasks-per-node=4 -c7
#SBATCH hetjob
#SBATCH -N1 -n1 -c7
srun --het-group=0,1 -c7 hpcml launch -- ./a
