#!/bin/bash
#SBATCH --nodes=1 --gpus-per-node=4 --time=10
set -e
L="python -m torch.distributed.run --nproc_per_node 4"
$L train.py 2>&1 | tee train.log
echo end
