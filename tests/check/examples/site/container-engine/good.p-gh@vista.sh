#!/bin/bash
#SBATCH -p gh
#SBATCH -N1
#SBATCH -n1
#SBATCH -t 10
ibrun singularity exec a.sif python train.py
