#!/bin/bash
#SBATCH --account=def-me
#SBATCH --time=10:00
#SBATCH --mem=4G
module load python apptainer/1.3
srun apptainer exec --nv a.sif python train.py
