#!/bin/bash
module load cuda/12.1
export LD_LIBRARY_PATH="/opt/lib:${LD_LIBRARY_PATH}"
python train.py
