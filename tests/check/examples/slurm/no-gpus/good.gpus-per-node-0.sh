#!/bin/bash
#SBATCH --gpus-per-node=0
module load cuda/11.8 nccl
dask-scheduler --port 8889
