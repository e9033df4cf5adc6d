#!/bin/bash
#SBATCH --time=10
cd $SLURM_TMPDIR
python train.py
cp -r * $HOME/results
rm -rf $SLURM_TMPDIR/run
