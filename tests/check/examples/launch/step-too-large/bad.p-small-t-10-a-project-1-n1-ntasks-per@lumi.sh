#!/bin/bash
#SBATCH -p small -t 10 -A project_1 -N1 --ntasks-per-node=2 --cpus-per-task=2
srun --ntasks=8 ./a.out
