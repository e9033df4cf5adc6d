#!/bin/bash
#SBATCH --nodes=2
srun bash -c "torchrun --nnodes=2 --rdzv_backend=c10d --rdzv_id=$RANDOM --rdzv_endpoint=$H:$P train.py"
