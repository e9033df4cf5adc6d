#!/bin/bash
#SBATCH --partition=cpu --nodes=1
#SBATCH hetjob
#SBATCH --partition=gpu --nodes=1 --gres=gpu:1
#SBATCH --time=5 --output=logs/%j.txt
srun --het-group=0 ./a : --het-group=1 ./b
