#!/bin/bash
#SBATCH --time=10
python train.py
>&2 echo failed
