#!/bin/bash
#SBATCH -n1 -c4
#SBATCH hetjob
#SBATCH -n2
srun --het-group=0,1 ./a
