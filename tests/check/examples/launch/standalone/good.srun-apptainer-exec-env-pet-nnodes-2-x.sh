#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=1
srun apptainer exec --env PET_NNODES=2 x.sif torchrun --rdzv_backend=c10d --rdzv_endpoint=$H:$P --nproc_per_node=4 train.py
