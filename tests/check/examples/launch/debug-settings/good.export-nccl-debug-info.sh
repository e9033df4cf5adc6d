#!/bin/bash
export NCCL_DEBUG=INFO
srun python train.py
