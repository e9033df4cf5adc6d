#!/bin/bash
#SBATCH -p small-g --ntasks=4
MASTER_PORT=6000 srun python train.py
