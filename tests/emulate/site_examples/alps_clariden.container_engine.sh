#!/bin/bash
# Source: github:eth-cscs/cscs-docs:docs/software/ml/pytorch.md @0910c3cd, read 2026-11-29
# Expected: 8 tasks on 2 nodes, 0 GPUs each
#SBATCH --account=a100
#SBATCH --job-name=dist-train-ddp
#SBATCH --time=01:00:00
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=4
ulimit -c 0
srun -ul --environment=./image.toml bash -c "python3 train.py"
