#!/bin/bash
#SBATCH --ntasks=16
mpirun -np 4 ./prepare
mpirun -np 16 ./solver
