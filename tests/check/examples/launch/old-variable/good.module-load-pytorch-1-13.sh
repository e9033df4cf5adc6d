#!/bin/bash
module load pytorch/1.13
export NCCL_BLOCKING_WAIT=1
srun python train.py
