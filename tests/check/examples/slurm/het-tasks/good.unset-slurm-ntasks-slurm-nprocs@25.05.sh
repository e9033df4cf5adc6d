#!/bin/bash
#SBATCH --nodes=1 --ntasks-per-node=2 --cpus-per-task=4
#SBATCH hetjob
#SBATCH --nodes=2 --ntasks-per-node=4 --cpus-per-task=4
unset SLURM_NTASKS SLURM_NPROCS
srun --het-group=0,1 -c4 ./a
