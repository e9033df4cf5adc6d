#!/bin/bash
# export CUDA_HOME=/usr/local/cuda:$CUDA_HOME
python train.py
