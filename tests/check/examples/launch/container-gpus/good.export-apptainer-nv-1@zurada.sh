#!/bin/bash
#SBATCH -p gpu2h100 --gpus-per-node=2 -N1
export APPTAINER_NV=1
srun apptainer exec x.sif python train.py
