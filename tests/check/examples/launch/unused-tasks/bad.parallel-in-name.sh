#!/bin/bash
#SBATCH --ntasks-per-node=3 --nodes=1 --gres=gpu:3
python parallelize_data.py
