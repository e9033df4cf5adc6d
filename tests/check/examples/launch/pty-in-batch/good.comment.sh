#!/bin/bash
#SBATCH --time=10
# try: srun --pty bash
srun python train.py
