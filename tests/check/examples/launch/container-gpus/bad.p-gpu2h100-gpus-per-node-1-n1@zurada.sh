#!/bin/bash
#SBATCH -p gpu2h100 --gpus-per-node=1 -N1
singularity exec x.sif bash -c 'python train.py'
