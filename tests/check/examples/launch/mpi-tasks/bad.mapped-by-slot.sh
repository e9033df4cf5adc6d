#!/bin/bash
#SBATCH --nodes=1 --ntasks=1 --gpus=4
mpirun -n 4 --bind-to none -map-by slot python train.py
