#!/bin/bash
#SBATCH -N1
torchrun <options> train.py
