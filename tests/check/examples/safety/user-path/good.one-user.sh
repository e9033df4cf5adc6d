#!/bin/bash
#SBATCH --time=10
cd /home/siemsj/projects/analysis
python train.py
