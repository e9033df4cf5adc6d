#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=1 --cpus-per-task=8 --time=10
srun --nodes=1 --ntasks=1 ray stop
