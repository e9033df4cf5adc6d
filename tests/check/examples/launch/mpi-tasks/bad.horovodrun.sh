#!/bin/bash
#SBATCH --nodes=1 --ntasks=4
horovodrun -np 8 python train.py
