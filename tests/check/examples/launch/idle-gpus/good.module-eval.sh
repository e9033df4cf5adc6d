#!/bin/bash
#SBATCH -N1 --gres=gpu:4
python -m studio.eval --workspace w
