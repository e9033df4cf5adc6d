#!/bin/bash
set -- a=1 b=2
srun python train.py "$@"
