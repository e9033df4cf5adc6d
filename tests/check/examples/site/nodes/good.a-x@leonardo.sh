#!/bin/bash
#SBATCH -A x
#SBATCH -t 10
#SBATCH -p boost_usr_prod
#SBATCH --qos=boost_qos_bprod
#SBATCH --gres=gpu:4
#SBATCH -N 128
srun true
