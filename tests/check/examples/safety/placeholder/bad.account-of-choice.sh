#!/bin/bash
#SBATCH --account=group-a|standby
srun python train.py
