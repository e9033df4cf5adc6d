#!/bin/bash
#SBATCH --time=10
tmux new -d -s x "python train.py"
