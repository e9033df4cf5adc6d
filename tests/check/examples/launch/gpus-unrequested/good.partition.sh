#!/bin/bash
#SBATCH --partition=gpu-exclusive
srun singularity exec --nv image.sif python infer.py
