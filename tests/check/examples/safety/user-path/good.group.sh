#!/bin/bash
#SBATCH --time=10
cd /home/gridsan/$USER
python train.py --data /home/gridsan/groups/datasets/ImageNet
