#!/bin/bash
#SBATCH --nodes=2
PORT=6000
RUN="torchrun --nnodes=2 --rdzv_backend=c10d --rdzv_endpoint=$H:$PORT"
srun bash -c "$RUN train.py"
