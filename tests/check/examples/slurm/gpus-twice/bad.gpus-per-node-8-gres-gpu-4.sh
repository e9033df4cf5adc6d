#!/bin/bash
#SBATCH --gpus-per-node=8 --gres=gpu:4
