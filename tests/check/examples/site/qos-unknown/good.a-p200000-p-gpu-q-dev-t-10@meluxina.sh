#!/bin/bash
#SBATCH -A p200000 -p gpu -q dev -t 10
#SBATCH --gpus-per-node=4
srun true
