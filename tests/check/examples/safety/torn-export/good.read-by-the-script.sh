#!/bin/bash
#SBATCH --nodes=1 --ntasks=1 --time=10
OMP_NUM_THREADS=4
TOKENIZERS_PARALLELISM=false srun python train.py --threads "$OMP_NUM_THREADS"
