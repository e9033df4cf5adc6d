#!/bin/bash
#SBATCH --time=10
srun wandb agent team/project/x
