#!/bin/bash
#SBATCH --signal=B:USR1@120
exec python train.py
