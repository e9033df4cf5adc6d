#!/bin/bash
#SBATCH --nodes=1 --ntasks=8 --gpus-per-node=8 --gpu-bind=per_task:1
srun nvidia-smi
mpirun -n 8 python train.py
