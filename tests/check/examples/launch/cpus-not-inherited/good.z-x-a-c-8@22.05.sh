#!/bin/bash
#SBATCH --ntasks=4 --cpus-per-task=8
[ -z $X ] || A="-c 8"
srun $A python train.py
