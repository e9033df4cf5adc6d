#!/bin/bash
#SBATCH --nodes=2 --gpus-per-node=4
export MASTER_PORT=29501
deepspeed --hostfile hostfile train.py
