#!/bin/bash
#SBATCH --nodes=3 --gres=gpu:4
virtualenv $SLURM_TMPDIR/env
source $SLURM_TMPDIR/env/bin/activate
python parallel_train.py
