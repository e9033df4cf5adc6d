#!/bin/bash
#SBATCH --ntasks=4
mpirun --hostfile hosts -np 8 ./solver
