#!/bin/bash
#SBATCH --ntasks=1 --cpus-per-task=4 --time=10
taskset -c 0-3 python train.py
