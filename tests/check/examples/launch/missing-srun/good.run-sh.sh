#!/bin/bash
#SBATCH --nodes=2
./run.sh
python train.py
