#!/bin/bash
#SBATCH --ntasks=1 --gpus=1 --time=10
export MASTER_ADDR=$(hostname)
srun apptainer exec --nv --cleanenv x.sif python train.py
