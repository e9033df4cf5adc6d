#!/bin/bash
#SBATCH -A abc123 -q {qos} --nodes=2 --gpus-per-node={gpus} --time=10
srun python train.py
