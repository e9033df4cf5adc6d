#!/bin/bash
#SBATCH -N2
N=$(scontrol show hostnames | head -n 1)
IP=$(ssh $N hostname -I)
python train.py --addr $IP
