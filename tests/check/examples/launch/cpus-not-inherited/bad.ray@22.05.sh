#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=1 --cpus-per-task=8 --time=1:00:00
srun -N1 -n1 ray start --head --block
