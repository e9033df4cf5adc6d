#!/bin/bash
# NCCL_TIMEOUT=1 does nothing
srun python train.py
