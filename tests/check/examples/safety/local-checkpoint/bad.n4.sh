#!/bin/bash
#SBATCH -N4
srun torchrun train.py --save=/dev/shm/x
