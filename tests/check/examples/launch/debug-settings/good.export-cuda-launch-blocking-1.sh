#!/bin/bash
# export CUDA_LAUNCH_BLOCKING=1
srun python train.py
