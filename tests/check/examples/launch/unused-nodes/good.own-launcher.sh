#!/bin/bash
#SBATCH --nodes=2 --gpus-per-node=4
srun -N1 -n1 python submit.py
