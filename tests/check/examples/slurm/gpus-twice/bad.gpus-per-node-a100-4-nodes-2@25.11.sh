#!/bin/bash
#SBATCH --gpus-per-node=a100:4 --nodes=2
#SBATCH --gres=gpu:a100:4
