#!/bin/bash
#SBATCH --ntasks=4 --exclusive
srun -n 8 ./a.out
