#!/bin/bash
#SBATCH --time=10
# data is in /path/to/data
[ $# -gt 0 ] || echo "usage: $0 /path/to/data"
srun python train.py "$1"
