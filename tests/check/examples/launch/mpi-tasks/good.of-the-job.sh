#!/bin/bash
#SBATCH --ntasks=16
mpirun -np $SLURM_NTASKS ./solver
