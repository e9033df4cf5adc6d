#!/bin/bash
export SEED=$(shuf -i 0-100 -n 1)
srun python train.py
