#!/bin/bash
#SBATCH -N1 --gres=gpu:4
python -m studio.train --workspace w
