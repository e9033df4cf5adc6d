#!/bin/bash
#SBATCH --time=10
python train.py --data /gpfs/users/steinba/images --out /gpfs/users/${USER}/out
