#!/bin/sh
#SBATCH --nodes=2
srun hostname
