#!/bin/bash
#SBATCH --partition=cpu --nodes=1 --time=5 --output=%j.txt
#SBATCH hetjob
#SBATCH --partition=gpu --nodes=1 --gres=gpu:1
srun --het-group=0 ./a : --het-group=1 ./b
