#!/bin/bash
setup() { source /opt/conda/etc/profile.d/conda.sh; }
setup
conda activate torch
python train.py
