#!/bin/bash
#SBATCH -p gpu_h100 --gpus=1
srun true
