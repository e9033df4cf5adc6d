#!/bin/bash
#SBATCH --ntasks=4
srun -n 8 ./a.out
