#!/bin/bash
NCCL_BLOCKING_WAIT=1 srun python train.py
