#!/bin/bash
# Source: github:hpc2n/intro-course:docs/batch.md @0718c324, read 2026-11-30
# Expected: 1 task on 1 node, 1 GPU each
#SBATCH -A hpc2n2026-001
#SBATCH --time=00:10:00
#SBATCH --gpus=1
module purge > /dev/null 2>&1
python3 train.py
