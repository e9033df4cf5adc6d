#!/bin/bash
#SBATCH --nodes=1 --ntasks-per-node=12 --gres=gpu:2
source activate env
python eval.py
