#!/bin/bash
#SBATCH -N1
# The sizes are passed by submit.py.
export WORLD_SIZE=$SLURM_NTASKS
srun ./a
