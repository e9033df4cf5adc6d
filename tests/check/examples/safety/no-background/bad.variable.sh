#!/bin/bash
#SBATCH --time=10
python train.py
PID=$!
wait $PID
