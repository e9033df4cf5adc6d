#!/bin/bash
#SBATCH --time=1:00:00
apptainer exec --rocm image.sif python train.py
