#!/bin/bash
# Source: github:CSCfi/csc-user-guide:docs/computing/running/example-job-scripts-roihu.md @153032b0, read 2026-11-29
# Expected: 16 tasks on 4 nodes, 4 GPUs each
#SBATCH --job-name=example
#SBATCH --account=project_2000000
#SBATCH --partition=gpularge
#SBATCH --time=00:30:00
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=4 --cpus-per-task=72
#SBATCH --gres=gpu:gh200:4
export OMP_NUM_THREADS=${SLURM_CPUS_PER_TASK:-1}
export OMP_PLACES=cores
export OMP_PROC_BIND=spread
srun python3 train.py
