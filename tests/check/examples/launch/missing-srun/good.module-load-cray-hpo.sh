#!/bin/bash
#SBATCH -N 8
module load cray-hpo
python -u hpo_train.py --verbose
