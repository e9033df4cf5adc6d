#!/bin/bash
#SBATCH --time=10
RUN_NAME=base
python train.py --output_dir "out/{RUN_NAME}"
