#!/bin/bash
#SBATCH -N2 -n16 --gpus-per-task=1
srun python generate_images.py
