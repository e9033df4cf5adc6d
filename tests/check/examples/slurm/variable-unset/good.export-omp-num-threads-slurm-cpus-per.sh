#!/bin/bash
#SBATCH --nodes=2
export OMP_NUM_THREADS=${SLURM_CPUS_PER_TASK:-1}
srun ./a
