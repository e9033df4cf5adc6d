#!/bin/bash
#SBATCH -N1 -n4 --gpus-per-node=4
srun bash -c 'export CUDA_VISIBLE_DEVICES=$SLURM_LOCALID; python train.py'
