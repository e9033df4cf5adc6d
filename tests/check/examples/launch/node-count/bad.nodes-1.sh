#!/bin/bash
#SBATCH --nodes=1
accelerate launch --num_machines 2 --num_processes 8 train.py
