#!/bin/bash
#SBATCH --nodes=2 --ntasks=8
srun bash -c 'python train.py --rank $SLURM_RANK'
