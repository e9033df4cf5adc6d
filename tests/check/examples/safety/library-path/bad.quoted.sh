#!/bin/bash
module load cuda/12.1
export LD_LIBRARY_PATH='/opt/conda/lib/'
python train.py
