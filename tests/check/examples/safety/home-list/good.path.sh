#!/bin/bash
export PATH=$CUDA_HOME/bin:$PATH
python train.py
