#!/bin/bash
#SBATCH --nodes=1 --ntasks-per-node=2 --gpus-per-node=2 --time=10
module purge
module load gcc/12.2 cuda/12.3.2
conda activate main
srun python train.py
