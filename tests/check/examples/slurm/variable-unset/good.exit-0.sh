#!/bin/bash
#SBATCH --nodes=2
srun ./a
exit 0
$SLURM_NTASKS is the number of tasks
