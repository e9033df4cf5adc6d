#!/bin/bash
#SBATCH --nodes=1 --ntasks=16 --cpus-per-task=8 --time=10
srun -n 128 pmemd.MPI -O -i md.in
