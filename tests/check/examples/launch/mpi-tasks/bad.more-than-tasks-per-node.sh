#!/bin/bash
#SBATCH --nodes=1 --ntasks-per-node=8
mpirun -n 16 ./solver
