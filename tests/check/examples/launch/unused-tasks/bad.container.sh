#!/bin/bash
#SBATCH -n 8
#SBATCH --gres=gpu:1
singularity exec --nv image.sif python train.py
