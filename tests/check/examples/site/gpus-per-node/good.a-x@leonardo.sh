#!/bin/bash
#SBATCH -A x
#SBATCH -p boost_usr_prod
#SBATCH -t 10
#SBATCH --gres=gpu:4
srun true
