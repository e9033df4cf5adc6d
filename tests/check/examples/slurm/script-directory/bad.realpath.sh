#!/bin/bash
#SBATCH --nodes=1 --time=10
here=$(dirname "$(realpath "$0")")
cd "$here/.." || exit
srun python train.py
