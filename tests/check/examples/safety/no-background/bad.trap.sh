#!/bin/bash
#SBATCH --time=10
trap "kill -USR1 $!" USR1
srun python train.py
