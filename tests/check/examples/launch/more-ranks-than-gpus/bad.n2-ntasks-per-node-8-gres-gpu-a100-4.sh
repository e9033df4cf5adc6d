#!/bin/bash
#SBATCH -N2 --ntasks-per-node=8 --gres=gpu:a100:4
export NCCL_DEBUG=INFO
srun singularity exec --nv x.sif python train.py
