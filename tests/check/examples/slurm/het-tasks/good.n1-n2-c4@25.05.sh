#!/bin/bash
#SBATCH -N1 -n2 -c4
#SBATCH hetjob
#SBATCH -N2 --ntasks-per-node=4 -c4
srun --het-group=0,1 -c4 ./a
