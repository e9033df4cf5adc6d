#!/bin/bash
#SBATCH -N2
ssh login1 mkdir -p x
python train.py
