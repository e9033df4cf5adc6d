#!/bin/bash
export NCCL_SOCKET_TIMEOUT=600
srun python train.py
