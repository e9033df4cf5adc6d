#!/bin/bash
NCCL_TIMEOUT=1800 torchrun --standalone --nproc_per_node=4 train.py
