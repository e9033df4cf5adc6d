#!/bin/bash
#SBATCH --gpus=0
python mnist-cpu-train.py
