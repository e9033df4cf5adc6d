#!/bin/bash
export CUDA_HOME=/usr/local/cuda-11
export CUDA_HOME=$CUDA_HOME:/usr/local/cuda-12
python train.py
