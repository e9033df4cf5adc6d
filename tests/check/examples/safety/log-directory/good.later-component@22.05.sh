#!/bin/bash
#SBATCH --nodes=1 --time=5
#SBATCH hetjob
#SBATCH --nodes=1 --output=logs/%j.txt
srun --het-group=0 ./a : --het-group=1 ./b
