#!/bin/bash
MASTER_PORT=$RANDOM
export MASTER_PORT
srun python train.py
