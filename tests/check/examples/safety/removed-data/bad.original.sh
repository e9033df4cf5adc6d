#!/bin/bash
#SBATCH --time=10
cp -r data $SLURM_TMPDIR/data
rm -rf data
python train.py --data data
