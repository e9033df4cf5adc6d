#!/bin/bash
#SBATCH --nodes=1 --gres=gpu:0
nvidia-smi
srun ./solver
