#!/bin/bash
srun python train.py
[ -f model.pt ] || exit 1
echo done
