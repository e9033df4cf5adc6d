#!/bin/bash
#SBATCH --ntasks=4 --gpus=4 --time=10
export MASTER_ADDR=$(hostname)
export APPTAINERENV_MASTER_ADDR=$MASTER_ADDR
srun apptainer exec --nv --cleanenv x.sif python train.py
