#!/bin/bash
#SBATCH -N1 --gres=gpu:2
python ddp_train_nerf.py --config a.txt
