#!/bin/bash
srun python train.py
code=$?
echo done
exit $code
