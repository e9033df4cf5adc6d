#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=1
srun torchrun $ARGS train.py
