#!/bin/bash
# Source: github:ularc/zurada:software/pytorch.rst @63bfb4df (with the memory that the partition requires), read 2026-11-29
# Expected: 8 tasks on 2 nodes, 2 GPUs each
#SBATCH --job-name=ddp_multi_node
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=4
#SBATCH --gpus-per-node=2
#SBATCH --cpus-per-task=4
#SBATCH --time=02:00:00
#SBATCH --partition=gpu2h100
#SBATCH --mem=64G
module load miniforge3/25.3.1-gcc-11.4.1
conda activate pytorch
srun python3 train.py
