#!/bin/bash
srun python train.py
code=$?
echo "end"
exit $code
