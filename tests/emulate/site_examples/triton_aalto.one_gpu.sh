#!/bin/bash
# Source: github:AaltoSciComp/scicomp-docs:triton/tut/gpu.rst @00e98031, read 2026-11-29
# Expected: 1 task on 1 node, 1 GPU each
#SBATCH --time=00:05:00
#SBATCH --job-name=helloworld
#SBATCH --mem-per-cpu=500M
#SBATCH --cpus-per-task=1
#SBATCH --gres=gpu:1
module load cuda
python3 train.py
