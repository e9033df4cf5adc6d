#!/bin/bash
#SBATCH --nodes=1 --ntasks=1 --gpus-per-node=4 --cpus-per-task=16
export OMP_NUM_THREADS=16
deepspeed train.py
