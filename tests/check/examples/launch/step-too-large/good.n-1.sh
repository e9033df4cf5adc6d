#!/bin/bash
#SBATCH -N 1
srun -n 8 ./a.out
