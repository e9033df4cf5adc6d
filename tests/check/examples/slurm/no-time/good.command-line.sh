#!/bin/bash
# sbatch --time=10 job.sh
#SBATCH --cpus-per-task=4
python train.py
