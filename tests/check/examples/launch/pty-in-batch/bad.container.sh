#!/bin/bash
#SBATCH --time=10
srun -n1 --pty singularity exec image.sif python train.py
