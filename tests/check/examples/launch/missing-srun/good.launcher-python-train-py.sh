#!/bin/bash
#SBATCH --nodes=2
$LAUNCHER python train.py
