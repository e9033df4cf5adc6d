#!/bin/bash
#SBATCH --cpus-per-task=4
#SBATCH hetjob
#SBATCH -n2
srun --het-group=0-1 ./a
