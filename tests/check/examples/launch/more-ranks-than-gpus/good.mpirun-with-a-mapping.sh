#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=4 --gpus=4
mpirun -n "$SLURM_NTASKS" --map-by ppr:2:node python train_hvd.py
