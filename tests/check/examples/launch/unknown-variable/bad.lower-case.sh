#!/bin/bash
#SBATCH --time=10
export omp_num_threads=8
srun python train.py
