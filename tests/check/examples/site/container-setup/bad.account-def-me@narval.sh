#!/bin/bash
#SBATCH --account=def-me
#SBATCH --time=10:00
#SBATCH --mem=4G
module load python/3.11
srun apptainer exec --nv a.sif python train.py
