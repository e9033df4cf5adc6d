#!/bin/bash
#SBATCH --time=10 --gpus=1
module load miniconda
# python old.py --epochs 3
conda run -n torch python train.py
