#!/bin/bash
#SBATCH --nodes=2
SLURM_NNODE=$SLURM_NNODES
srun ./a "$SLURM_NNODE"
