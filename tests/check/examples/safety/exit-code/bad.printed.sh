#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=8 --gpus-per-node=8 --time=4:00:00
srun --kill-on-bad-exit=1 python train.py
echo "======"
echo "exit code: $?"
echo "done"
