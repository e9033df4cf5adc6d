#!/bin/bash
srun python train.py
rc=$?
echo "rc=$rc"
date
