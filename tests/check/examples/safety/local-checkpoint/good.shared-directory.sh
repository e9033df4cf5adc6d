#!/bin/bash
#SBATCH --nodes=1
cd $SCRATCH/run
python train.py
cp -r results ~
