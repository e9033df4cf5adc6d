#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=4
export LOCAL_RANK=$SLURM_LOCALID
srun bash run.sh
