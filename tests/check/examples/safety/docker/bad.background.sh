#!/bin/bash
#SBATCH --gres=gpu:1
docker run -d image python train.py &
wait
