#!/bin/bash
#SBATCH --nodes=1 --ntasks-per-node=2 --cpus-per-task=4
#SBATCH hetjob
#SBATCH --nodes=2 --ntasks-per-node=4 --cpus-per-task=4
srun --het-group=0 -n2 -c4 ./a : --het-group=1 -n8 -c4 ./b
