#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=4 --gpus=4
mpirun -n "$SLURM_NTASKS" --bind-to none singularity exec --nv x.sif python train_hvd.py
