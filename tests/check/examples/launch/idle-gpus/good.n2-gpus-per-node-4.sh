#!/bin/bash
#SBATCH -N2 --gpus-per-node=4
srun python deepy.py train.py config.yml
