#!/bin/bash
#SBATCH -N1 --ntasks-per-node=4
srun torchrun --help
