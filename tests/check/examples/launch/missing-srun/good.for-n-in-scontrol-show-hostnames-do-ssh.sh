#!/bin/bash
#SBATCH --nodes=2
for n in $(scontrol show hostnames); do ssh $n python train.py & done
python train.py
