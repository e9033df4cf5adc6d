#!/bin/bash
#SBATCH --nodes=1 --ntasks-per-node=4 --gpus-per-node=4 --time=10
export MASTER_ADDR=$(hostname)
srun singularity exec --nv --containall x.sif python ddp.py
