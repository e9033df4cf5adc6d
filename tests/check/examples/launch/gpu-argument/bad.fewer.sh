#!/bin/bash
#SBATCH --nodes=1 --gres=gpu:4 --time=10
python main.py --ngpus-per-node 2
