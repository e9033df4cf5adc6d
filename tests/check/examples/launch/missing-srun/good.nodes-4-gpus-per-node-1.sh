#!/bin/bash
#SBATCH --nodes=4 --gpus-per-node=1
module load openmpi/4.0.5
python run-val.py
