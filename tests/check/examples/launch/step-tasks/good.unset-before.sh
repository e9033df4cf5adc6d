#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=4 --time=10
unset SLURM_NTASKS SLURM_NPROCS
srun --ntasks-per-node=1 tar xf a.tar
