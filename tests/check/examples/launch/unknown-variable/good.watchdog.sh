#!/bin/bash
export TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC=600
srun python train.py
