#!/bin/bash
#SBATCH -p standard-g -t 10 -A project_1 -N1 --ntasks-per-node=2
srun --ntasks=8 ./a.out
