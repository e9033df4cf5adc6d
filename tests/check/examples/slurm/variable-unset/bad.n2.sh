#!/bin/bash
#SBATCH -N2
export WORLD_SIZE=$SLURM_NTASKS
srun ./a
