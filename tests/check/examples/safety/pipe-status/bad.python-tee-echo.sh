#!/bin/bash
#SBATCH --gres=gpu:1 --time=10
python scripts/optimize.py --all \
    2>&1 | tee logs/optimize.log
echo "complete: $(date)"
