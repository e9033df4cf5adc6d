#!/bin/bash
#SBATCH -N1 --ntasks-per-node=2
srun bash -c 'mpirun -np 2 ./train'
