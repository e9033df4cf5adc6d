#!/bin/bash
#SBATCH -N1 --gpus-per-node=4
python train.py --trainer.devices 4
