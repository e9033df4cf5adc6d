#!/bin/bash
source ~/miniconda3/etc/profile.d/conda.sh
conda active torch
python train.py
