#!/bin/bash
#SBATCH --account=project_462000001
#SBATCH --time=10
#SBATCH -p standard-g
#SBATCH --nodes=2
#SBATCH --gpus-per-node=8
#SBATCH --ntasks-per-node=8
SIF=/appl/local/laifs/containers/lumi-multitorch-full-u24r70f21m50t210-20260415_130625.sif
export NCCL_NET_GDR_LEVEL=PHB
srun singularity exec $SIF python train.py
