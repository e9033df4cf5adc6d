#!/bin/bash
#SBATCH --nodes=1 --signal=B:TERM@300
trap "cp -r results ~" TERM
cd $SLURM_TMPDIR
python train.py &
wait
cp -r results ~
