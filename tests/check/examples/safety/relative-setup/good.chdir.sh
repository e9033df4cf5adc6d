#!/bin/bash
#SBATCH --time=10
#SBATCH --chdir=/scratch/project_1
cd train_sdf
python test.py
