#!/bin/bash
#SBATCH -N1 --ntasks-per-node=2
srun srun ./train
