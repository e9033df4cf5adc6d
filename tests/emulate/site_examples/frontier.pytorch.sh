#!/bin/bash
# Source: github:olcf/olcf-user-docs:software/analytics/pytorch_frontier.rst @02a2c25f, read 2026-11-29
# Expected: 16 tasks on 2 nodes
#SBATCH -A ABC123
#SBATCH -J ddp_test
#SBATCH -t 00:05:00
#SBATCH -p batch
#SBATCH -N 2
#SBATCH --network=disable_rdzv_get
module load PrgEnv-gnu/8.7.0
module load cpe/26.03
module load miniforge3/23.11.0-0
module load rocm/7.1.1
module load rccl-net-plugin
module load craype-accel-amd-gfx90a
export LD_LIBRARY_PATH=$CRAY_LD_LIBRARY_PATH:$LD_LIBRARY_PATH
conda activate my_env
MASTER_ADDR=$(hostname -i)
export MASTER_ADDR
srun -N2 -n16 -c7 --gpus-per-task=1 --gpu-bind=closest python3 train.py
