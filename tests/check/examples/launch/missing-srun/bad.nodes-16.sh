#!/bin/bash
#SBATCH --nodes=16
module load python
python train.py
