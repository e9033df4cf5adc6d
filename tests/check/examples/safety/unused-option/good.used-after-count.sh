#!/bin/bash
EPOCHS=1
while [ $# -gt 0 ]; do
  case $1 in
    --epochs) EPOCHS=$2; shift ;;
  esac
  shift
done
[ $# -eq 0 ] && ((EPOCHS > 1))
srun python train.py
