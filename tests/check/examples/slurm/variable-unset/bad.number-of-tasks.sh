#!/bin/bash
#SBATCH --nodes=2 --ntasks=8
srun python train.py --world $SLURM_NUM_TASKS
