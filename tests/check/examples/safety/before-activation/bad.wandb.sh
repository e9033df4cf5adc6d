#!/bin/bash
#SBATCH --time=10
module load python
wandb login
source ~/venv/bin/activate
python train.py
