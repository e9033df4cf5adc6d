#!/bin/bash
#SBATCH -N2 --gres=gpu:2
python fine_tune.py --lr 1e-4
