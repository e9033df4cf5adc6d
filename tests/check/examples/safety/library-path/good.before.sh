#!/bin/bash
export LD_LIBRARY_PATH=/opt/lib
module load cuda/12.1
python train.py
