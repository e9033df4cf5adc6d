#!/bin/bash
#SBATCH --nodes=2 -c @@CPUS@@
export OMP_NUM_THREADS=$SLURM_CPUS_PER_TASK
srun ./a
