#!/bin/bash
#SBATCH --nodes=1 --ntasks-per-node=4
srun python pretrain.py --master-port 2048
