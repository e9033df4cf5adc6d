#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=1 --gpus-per-node=4 --time=10
scontrol show hostnames > hostfile
deepspeed --hostfile hostfile train.py
