#!/bin/bash
#SBATCH -p main,long
#SBATCH -t 10
#SBATCH --gres=gpu:a100:4
#SBATCH --mem=48G
srun true
