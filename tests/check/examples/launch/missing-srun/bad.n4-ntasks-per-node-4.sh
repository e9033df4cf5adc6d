#!/bin/bash
#SBATCH -N4 --ntasks-per-node=4
accelerate launch --num_machines 4 --num_processes 16 train.py
