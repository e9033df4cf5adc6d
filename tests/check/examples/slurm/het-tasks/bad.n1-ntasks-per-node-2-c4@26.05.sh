#!/bin/bash
#SBATCH -N1 --ntasks-per-node=2 -c4
#SBATCH hetjob
#SBATCH -N1 --ntasks-per-node=8 -c2
#SBATCH hetjob
#SBATCH -N4 --ntasks-per-node=2 -c4
srun -l --het-group=0-2 ./a
