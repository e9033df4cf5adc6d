#!/bin/bash
#SBATCH -N1 --ntasks-per-node=4 --gpus-per-node=2
srun hpcml launch -- python x.py
