#!/bin/bash
#SBATCH --signal=B:USR1@120
python train.py
trap 'touch stop' USR1
