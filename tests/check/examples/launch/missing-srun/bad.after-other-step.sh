#!/bin/bash
#SBATCH --nodes=32 --gpus-per-node=4 --time=36
srun -n 256 ./simulate input.phil
python train.py --data out
