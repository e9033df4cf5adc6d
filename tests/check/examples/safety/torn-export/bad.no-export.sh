#!/bin/bash
#SBATCH --nodes=1 --ntasks=1 --time=10
WANDB_MODE=offline # the nodes have no internet
srun python train.py --report-to wandb
