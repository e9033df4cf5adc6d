#!/bin/bash
#SBATCH --export none
srun hostname && srun -l hostname
