#!/bin/bash
#SBATCH --time=10
#SBATCH --gpus=1
srun singularity exec --nv a.sif python train.py --data=data
