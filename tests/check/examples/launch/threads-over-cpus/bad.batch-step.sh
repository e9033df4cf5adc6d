#!/bin/bash
#SBATCH --ntasks=1 --cpus-per-task=8 --gpus=4
export OMP_NUM_THREADS=${SLURM_CPUS_PER_TASK:-1}
torchrun --standalone --nproc_per_node=4 train.py
