#!/bin/bash
# Source: github:ncsa/Delta_doc:docs/source/user_guide/running_jobs.rst @0acc04b4, read 2026-11-29
# Expected: 4 tasks on 1 node
#SBATCH --job-name=a.out_symmetric
#SBATCH --partition=gpuA100x4
#SBATCH --mem=208G
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=4
#SBATCH --cpus-per-task=16
#SBATCH --constraint="scratch"
#SBATCH --gpus-per-node=4
#SBATCH --gpu-bind=closest
#SBATCH --account=bbbb-delta-gpu
#SBATCH --exclusive
#SBATCH --no-requeue
#SBATCH -t 04:00:00
export OMP_NUM_THREADS=1
srun -N 1 -n 4 python3 train.py
