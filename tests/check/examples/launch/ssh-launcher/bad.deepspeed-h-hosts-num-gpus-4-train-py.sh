#!/bin/bash
#SBATCH -N2
deepspeed -H hosts --num_gpus 4 train.py
