#!/bin/bash
#SBATCH --time=10
export CUDNN_LIBRARY_PATH=/opt/cudnn
srun python train.py
