#!/bin/bash
#SBATCH --ntasks=8 --cpus-per-task=7
if [ -d /opt/sagemaker ]; then RESUME=--auto-resume=1; fi
srun $RESUME -l python train.py
