#!/bin/bash
#SBATCH --nodes=2
## Later: add #SBATCH --ntasks=50
export OMP_NUM_THREADS=$SLURM_CPUS_PER_TASK
srun ./a
