#!/bin/bash
#SBATCH --ntasks=1 -c 7
export SLURM_CPUS_PER_TASK=2
srun ./a.out
