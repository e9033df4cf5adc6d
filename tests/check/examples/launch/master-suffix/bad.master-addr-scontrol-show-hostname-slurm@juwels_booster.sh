#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=4
MASTER_ADDR=`scontrol show hostname $SLURM_NODELIST | head -n1`
export MASTER_ADDR
srun python train.py
