#!/bin/bash
#SBATCH -N1 -n2
SLURM_CPU_BIND=mask_cpu:0xfe,0xfe00
export SLURM_CPU_BIND
srun python train.py
