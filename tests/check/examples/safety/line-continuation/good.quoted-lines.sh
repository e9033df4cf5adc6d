#!/bin/bash
#SBATCH --time=10
OPTS="--a 1
--b 2"
python train.py $OPTS
