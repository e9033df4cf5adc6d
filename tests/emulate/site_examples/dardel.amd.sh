#!/bin/bash -l
# Source: github:PDC-support/pdc-intro:slurm/job-script.md @43e80605, read 2026-11-29
# Expected: 8 tasks on 1 node, 1 GPU each
#SBATCH -J myjob
#SBATCH -A naiss2026-1-1
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=8
#SBATCH -p gpu
#SBATCH --gpus-per-task=1
#SBATCH -t 10:00:00
module load rocm/6.0.0
module load craype-accel-amd-gfx90a
srun python3 train.py
