#!/usr/bin/bash --login
# Source: github:ULHPC/ulhpc-docs:docs/jobs/gpu.md @1a8300a6, read 2026-11-29
# Expected: 1 task on 1 node, 1 GPU each
#SBATCH --job-name=gpu_example
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=7
#SBATCH --gpus-per-task=1
#SBATCH --time=0-04:00:00
#SBATCH --partition=gpu
#SBATCH --qos=normal
module purge || exit 1
module load numlib/cuDNN
srun python3 train.py
