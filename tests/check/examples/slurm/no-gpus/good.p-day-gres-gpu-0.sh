#!/bin/bash
#SBATCH -p day --gres=gpu:0
python preprocess.py --workers 8
