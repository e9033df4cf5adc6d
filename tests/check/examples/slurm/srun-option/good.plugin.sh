#!/bin/bash
#SBATCH -t 10
srun --container-image=x.sqsh --gpus-per-blade=2 python train.py
