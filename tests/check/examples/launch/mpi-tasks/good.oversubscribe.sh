#!/bin/bash
#SBATCH --ntasks=1 --cpus-per-task=16
mpirun --oversubscribe -np 16 ./solver
