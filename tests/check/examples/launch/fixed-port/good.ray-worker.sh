#!/bin/bash
#SBATCH --nodes=1 --gres=gpu:1 --time=10
port=$((15000 + SLURM_JOB_ID % 17000))
ray start --head --port=$port --num-gpus=1
ray start --address "$HOSTNAME:$port"
python train.py
