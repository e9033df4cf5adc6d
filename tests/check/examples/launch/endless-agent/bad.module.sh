#!/bin/bash
#SBATCH --time=10
singularity exec image.sif wandb agent team/project/x
