#!/bin/bash
# Source: https://docs.alliancecan.ca/wiki/PyTorch (pytorch-single-gpu.sh), read 2026-11-30
# Expected: 1 task on 1 node, 1 GPU each
#SBATCH --nodes 1
#SBATCH --gres=gpu:1 # request a GPU
#SBATCH --tasks-per-node=1
#SBATCH --cpus-per-task=1
#SBATCH --mem=8G
#SBATCH --time=0:05:00
#SBATCH --output=%N-%j.out
#SBATCH --account=def-me
module load python
virtualenv --no-download $SLURM_TMPDIR/env
source $SLURM_TMPDIR/env/bin/activate
pip install torch torchvision --no-index
echo "starting training..."
time python train.py
