#!/bin/bash
#SBATCH --ntasks=1 --cpus-per-task=4 --time=10
srun numactl --localalloc python train.py
