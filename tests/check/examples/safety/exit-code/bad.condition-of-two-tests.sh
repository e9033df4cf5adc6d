#!/bin/bash
if [ -n "$1" ] && [ -n "$2" ]; then
  NAME="$1"
fi
srun python train.py \
  --name "$NAME"
echo done
