#!/bin/bash
LR=1
while [[ $# -gt 0 ]]; do
  case "$1" in
    --lr)
      LR="$2"
      shift 2
      ;;
    --epochs)
      EPOCHS="$2"
      shift 2
      ;;
  esac
done
srun python train.py --epochs "${EPOCHS:-3}"
