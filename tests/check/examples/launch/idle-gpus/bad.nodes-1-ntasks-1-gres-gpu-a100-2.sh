#!/bin/bash
#SBATCH --nodes=1 --ntasks=1 --gres=gpu:a100:2
srun singularity exec --nv x.sif python -u train.py
