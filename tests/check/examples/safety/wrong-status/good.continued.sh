#!/bin/bash
srun python train.py \
  --message "echo"
code=$?
exit $code
