#!/bin/bash
#SBATCH -N1
# sbatch -N2 -c 8 job.sh
export OMP_NUM_THREADS=$SLURM_CPUS_PER_TASK
srun ./a
