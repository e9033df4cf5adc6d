#!/bin/bash
srun python train.py \
  --epochs 3 || exit 1
echo done
