#!/bin/bash
#SBATCH -p standard-g --nodes=2
export MASTER_PORT=9999
srun python train.py
