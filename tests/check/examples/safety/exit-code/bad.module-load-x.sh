#!/bin/bash
module load x
srun torchrun train.py
echo "END $(date)"
