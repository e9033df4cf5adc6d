#!/bin/bash
#SBATCH --time=10
su - trainer
python train.py
