#!/bin/bash
#SBATCH -c2
#SBATCH hetjob
#SBATCH -n2
srun -l --het-group 0,1 ./a
