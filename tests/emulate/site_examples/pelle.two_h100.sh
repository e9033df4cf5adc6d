#!/bin/bash
# Source: github:UPPMAX/UPPMAX-documentation:docs/cluster_guides/slurm_on_pelle.md @0ad71bf9, read 2026-11-29
# Expected: 1 task on 1 node, 2 GPUs each
#SBATCH -A uppmax2026-2-25
#SBATCH -t 1:0:0
#SBATCH -p gpu
#SBATCH --gpus=h100:2
srun python3 train.py
