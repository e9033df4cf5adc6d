#!/bin/bash -l
# Source: github:PDC-support/pdc-intro:slurm/job-script.md @43e80605, read 2026-11-29
# Expected: 4 tasks on 1 node, 1 GPU each
#SBATCH -J myjob
#SBATCH -A naiss2026-1-1
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=4
#SBATCH -p gpugh
#SBATCH --gpus-per-task=1
#SBATCH -t 10:00:00
module load cudatoolkit/25.9_13.0
module load craype-accel-nvidia90
srun python3 train.py
