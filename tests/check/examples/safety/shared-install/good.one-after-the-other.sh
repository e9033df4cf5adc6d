#!/bin/bash
#SBATCH --array=0-9%1 --time=10
pip install -r requirements.txt
python train.py "$SLURM_ARRAY_TASK_ID"
