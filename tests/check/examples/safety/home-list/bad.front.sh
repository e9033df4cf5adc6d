#!/bin/bash
export CUDA_HOME=$CUDA_HOME:/usr/local/cuda
python train.py
