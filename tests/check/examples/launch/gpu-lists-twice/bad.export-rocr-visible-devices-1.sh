#!/bin/bash
export ROCR_VISIBLE_DEVICES=1
export CUDA_VISIBLE_DEVICES=1
srun python train.py
