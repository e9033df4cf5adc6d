#!/bin/bash
#SBATCH --ntasks=4 --cpus-per-task=8
srun $SRUN_EXTRA python train.py
