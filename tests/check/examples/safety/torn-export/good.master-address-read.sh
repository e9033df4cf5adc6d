#!/bin/bash
MASTER_ADDR=$(scontrol show hostnames | head -n1)
srun torchrun --master_addr $MASTER_ADDR train.py
