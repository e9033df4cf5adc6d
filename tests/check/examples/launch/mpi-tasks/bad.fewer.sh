#!/bin/bash
#SBATCH --nodes=3 --ntasks-per-node=36
mpirun -np 36 ./solver
