#!/bin/bash
# Usage:
#   sbatch --nodes=4 train.sh
# sbatch -A account -t time \
#   train.sh
#sbatch -N 2 train.sh
