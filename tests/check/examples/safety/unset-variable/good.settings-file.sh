#!/bin/bash
#SBATCH --time=10
source settings.sh
python train.py --ratio $ratio
