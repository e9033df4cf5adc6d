#!/bin/bash
#SBATCH --nodes=1 --gpus-per-node=4 --gpu-bind=closest
python prepare.py
$LAUNCHER python train.py
