#!/bin/bash
#SBATCH --ntasks=1 --cpus-per-task=8
srun -n 8 ./a.out
