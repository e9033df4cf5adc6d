#!/bin/bash
set -e
srun python train.py 2>&1 | tee -a log
