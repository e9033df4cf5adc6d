#!/bin/bash
export MASTER_PORT=$((20000 + RANDOM % 20000))
srun python train.py
