#!/bin/bash
#SBATCH --time=10
# copied from /home/steinba/scripts
cd /home/$USER/project
python train.py
