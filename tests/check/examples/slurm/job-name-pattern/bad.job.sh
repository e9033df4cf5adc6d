#!/bin/bash
#SBATCH -J train-%j
srun python train.py
