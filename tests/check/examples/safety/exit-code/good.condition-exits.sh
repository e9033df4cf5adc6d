#!/bin/bash
srun python train.py
if [ $? -eq 0 ]; then
  echo "training finished"
else
  echo "training failed"
  exit 1
fi
