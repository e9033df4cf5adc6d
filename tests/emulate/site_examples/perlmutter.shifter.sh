#!/bin/bash
# Source: github:NERSC/sc25-dl-tutorial:submit_pm_mp.sh @62cec537, read 2026-11-29
# Expected: 4 tasks on 1 node, 4 GPUs each
#SBATCH -C gpu
#SBATCH -A m4790
#SBATCH -q premium
#SBATCH --ntasks-per-node 4
#SBATCH --cpus-per-task 32
#SBATCH --gpus-per-node 4
#SBATCH --time=03:00:00
#SBATCH --image=nersc/pytorch:25.02.01
#SBATCH --module=gpu,nccl-plugin
#SBATCH -J vit-era5-mp
mkdir -p "$SCRATCH/logs"
MASTER_ADDR=$(hostname)
export MASTER_ADDR
export CUDA_VISIBLE_DEVICES=3,2,1,0
srun -u shifter -V "$SCRATCH/logs:/logs" bash -c "python3 train.py"
