#!/bin/bash
CMD="srun python train.py"
eval "$CMD" || exit 1
echo done
