#!/bin/bash
#SBATCH --nodes=1 --gres=gpu:2
export MASTER_PORT=$((12000 + RANDOM % 20000))
deepspeed train.py
