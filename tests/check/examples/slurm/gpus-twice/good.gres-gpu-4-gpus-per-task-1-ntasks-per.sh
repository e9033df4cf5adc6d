#!/bin/bash
#SBATCH --gres=gpu:4 --gpus-per-task=1 --ntasks-per-node=4 --nodes=1
