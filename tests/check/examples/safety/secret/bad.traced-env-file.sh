#!/bin/bash
set -x -e
export $(grep -v '^#' .env | xargs)
srun python train.py
