#!/bin/bash
# Source: github:mila-iqia/mila-docs:docs/examples/distributed/multi_node/job.sh @2858be50 (without --exclude), read 2026-11-29
# Expected: 8 tasks on 2 nodes
#SBATCH --gpus-per-task=rtx8000:1
#SBATCH --cpus-per-task=4
#SBATCH --ntasks-per-node=4
#SBATCH --nodes=2
#SBATCH --mem=16G
#SBATCH --time=00:15:00
module --quiet purge
module load anaconda/3
module load cuda/11.7
conda activate pytorch
# shellcheck disable=SC2016 # expanded by the tasks
srun --ntasks="$SLURM_JOB_NUM_NODES" --ntasks-per-node=1 bash -c 'mkdir -p $SLURM_TMPDIR/data'
MASTER_PORT=$((10000 + SLURM_JOB_ID % 10000))
MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
export MASTER_PORT MASTER_ADDR
unset CUDA_VISIBLE_DEVICES
srun python train.py
