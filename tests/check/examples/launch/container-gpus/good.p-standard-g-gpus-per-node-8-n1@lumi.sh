#!/bin/bash
#SBATCH -p standard-g --gpus-per-node=8 -N1
srun singularity exec x.sif python train.py
