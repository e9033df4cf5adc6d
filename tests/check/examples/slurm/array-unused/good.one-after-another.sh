#!/bin/bash
#SBATCH --array=1-10%1 --output=%A_%a.log
python train.py
