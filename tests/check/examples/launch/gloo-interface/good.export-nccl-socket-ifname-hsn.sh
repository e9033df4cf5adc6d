#!/bin/bash
export NCCL_SOCKET_IFNAME=hsn
srun python train.py
