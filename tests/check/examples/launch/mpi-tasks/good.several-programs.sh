#!/bin/bash
#SBATCH --ntasks=10
mpirun -np 2 ./ocean : -np 8 ./air
