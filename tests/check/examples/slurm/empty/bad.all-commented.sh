#!/bin/sh
#SBATCH --time=10 --gpus=1
cd "$HOME/code"

# scene 1
# CUDA_LAUNCH_BLOCKING=1 torchrun train.py --scene 1
# CUDA_LAUNCH_BLOCKING=1 torchrun train.py --scene 2
