#!/bin/bash
#SBATCH --nodes=4 --ntasks-per-node=4 --cpus-per-task=12
srun --nodes=$SLURM_JOB_NUM_NODES --ntasks-per-node=4 --cpus-per-task=4 --cpu-bind=none python train.py
