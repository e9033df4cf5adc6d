#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=1
L="accelerate launch --rdzv_backend c10d --machine_rank $SLURM_PROCID"
srun $L train.py
