#!/bin/bash
#SBATCH --account=aip-me
#SBATCH --time=1:0:0 -p gpu
#SBATCH --gpus=h100:4
srun true
