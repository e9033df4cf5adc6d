#!/bin/bash
find . -name "slurm-*.out" -type f -exec rm {} \;
python train.py
