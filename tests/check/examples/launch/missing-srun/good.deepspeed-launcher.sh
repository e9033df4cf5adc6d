#!/bin/bash
#SBATCH --nodes=2 --gpus-per-node=4 --time=10
deepspeed --num_nodes 2 --num_gpus 4 --launcher openmpi train.py
