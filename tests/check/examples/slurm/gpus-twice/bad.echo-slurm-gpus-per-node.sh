#!/bin/bash
#SBATCH --gpus-per-node=4
#SBATCH --gres=gpu:4
echo $SLURM_GPUS_PER_NODE
