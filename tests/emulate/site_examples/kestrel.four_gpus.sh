#!/bin/bash
# Source: github:NREL/HPC:docs/Documentation/Systems/Kestrel/Running/example_sbatch.md @08df47ae (with an account, and 8 tasks), read 2026-11-29
# Expected: 8 tasks on 1 node
#SBATCH --account=handle
#SBATCH --nodes=1
#SBATCH --partition=gpu-h100
#SBATCH --time=00:20:00
#SBATCH --ntasks-per-node=8
#SBATCH --gres=gpu:4
#SBATCH --mem=184000
export CUDA_VISIBLE_DEVICES=0,1,2,3
module purge
ml craype-x86-genoa
srun python3 train.py
