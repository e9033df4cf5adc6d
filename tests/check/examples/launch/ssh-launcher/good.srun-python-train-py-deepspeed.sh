#!/bin/bash
#SBATCH -N2
srun python train.py --deepspeed
