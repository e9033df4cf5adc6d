#!/bin/bash
#SBATCH --ntasks=4
srun -O -n 8 ./a.out
