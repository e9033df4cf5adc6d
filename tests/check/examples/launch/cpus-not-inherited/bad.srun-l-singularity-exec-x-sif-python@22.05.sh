#!/bin/bash
#SBATCH --ntasks=8 --cpus-per-task=7
srun -l singularity exec x.sif python train.py
