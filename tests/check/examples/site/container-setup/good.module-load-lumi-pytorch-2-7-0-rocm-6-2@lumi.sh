#!/bin/bash
#SBATCH --account=project_462000001
#SBATCH --time=10
#SBATCH -p small-g
#SBATCH --gpus-per-node=1
module load LUMI PyTorch/2.7.0-rocm-6.2.4-python-3.12-singularity-20250527
srun singularity exec "$SIF" python train.py
