#!/bin/bash
#SBATCH --nodes=2 --gpus-per-node=4 --time=36
srun python train.py
python train_report.py
