#!/bin/bash
#SBATCH --array=0-9 --time=10
if [ ! -d .venv ]; then python -m venv .venv; fi
python train.py "$SLURM_ARRAY_TASK_ID"
