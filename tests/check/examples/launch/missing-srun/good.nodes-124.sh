#!/bin/bash
#SBATCH --nodes=124
python run_one.py data --num_gpus=992
