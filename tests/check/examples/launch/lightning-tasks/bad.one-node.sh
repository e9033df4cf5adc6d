#!/bin/bash
#SBATCH --nodes=1 --ntasks-per-node=1 --gpus-per-node=4 --time=10
srun python train.py trainer.devices=4
