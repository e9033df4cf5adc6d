#!/bin/bash
cd /scratch/me || exit 1
[ -d results ] || mkdir results
srun python train.py
echo done
