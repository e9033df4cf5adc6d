#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=1
srun accelerate launch --config_file a.yaml --num_machines 2 train.py
