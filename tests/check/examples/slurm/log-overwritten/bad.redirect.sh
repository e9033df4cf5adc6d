#!/bin/bash
#SBATCH --output=%j.out
cd $SLURM_SUBMIT_DIR
srun python train.py > train.log 2>&1
