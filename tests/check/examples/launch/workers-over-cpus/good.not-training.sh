#!/bin/bash
#SBATCH --ntasks=1 --cpus-per-task=2
srun python download.py --workers 8
