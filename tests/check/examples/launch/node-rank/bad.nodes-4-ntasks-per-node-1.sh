#!/bin/bash
#SBATCH --nodes=4 --ntasks-per-node=1
srun python -m torch.distributed.launch --nnodes=4 --nproc_per_node=4 --node_rank=0 --master_addr=$M train.py
