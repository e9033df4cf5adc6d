#!/bin/bash
#SBATCH --time=10
singularity shell x.sif
python train.py
