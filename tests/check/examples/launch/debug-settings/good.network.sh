#!/bin/bash
export NCCL_DEBUG_SUBSYS=INIT,NET
srun python train.py
