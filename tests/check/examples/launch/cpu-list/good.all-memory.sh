#!/bin/bash
#SBATCH --ntasks=1 --cpus-per-task=64 --mem=0 --time=10
taskset -c 0-3 python train.py
