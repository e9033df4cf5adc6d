#!/bin/bash
#SBATCH --nodes=1
accelerate launch --cpu --num_processes 4 train.py
