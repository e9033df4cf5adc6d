#!/bin/bash
#SBATCH --time=10
module load cuda && python train.py
wait $!
