#!/bin/bash
#SBATCH --nodes=1 --exclusive
mpirun -np 32 ./solver
