#!/bin/bash
#SBATCH --gpus-per-node=2 -N1
srun singularity exec x.sif python train.py
