#!/bin/bash
#SBATCH --gpus=1
export TMPDIR=/scratch/me
python train.py --output_dir $TMPDIR/out
