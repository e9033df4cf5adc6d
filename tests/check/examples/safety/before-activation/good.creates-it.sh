#!/bin/bash
#SBATCH --time=10
pip install virtualenv
virtualenv $SLURM_TMPDIR/venv
source $SLURM_TMPDIR/venv/bin/activate
pip install torch
python train.py
