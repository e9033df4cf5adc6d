#!/bin/bash
#SBATCH -N2
python -m deepspeed.launcher.runner --hostfile $F train.py
