#!/bin/bash
#SBATCH -n4 --gpus-per-task=1 --gres=gpu:a100:4
