#!/bin/bash
#SBATCH --ntasks=16
export OMP_NUM_THREADS=4
mpirun -np 4 ./solver
