#!/bin/bash
#SBATCH --gpus=T4:2
python train.py --precision bf16-mixed
