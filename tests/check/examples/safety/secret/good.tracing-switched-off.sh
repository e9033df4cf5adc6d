#!/bin/bash
set -x
set +x
export $(grep -v '^#' .env | xargs)
set -x
srun python train.py
