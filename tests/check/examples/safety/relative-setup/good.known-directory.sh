#!/bin/bash
#SBATCH --time=10
cd "$SLURM_SUBMIT_DIR"/project
source venv/bin/activate
python test.py
