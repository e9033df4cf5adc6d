#!/bin/bash
export MASTER_PORT="8091"
srun python -m torch.distributed.launch --nproc_per_node=1 train.py
srun python train.py
