#!/bin/bash
##SBATCH -A <your project>
#SBATCH --time=10
#SBATCH -p small-g
#SBATCH --gpus-per-node=1
srun true
