#!/bin/bash
#SBATCH -N 2
srun -N4 -n4 ./a.out
