#!/bin/bash
#SBATCH --gres=nvme:0
srun python train.py
