#!/bin/bash
#SBATCH --time=10
#SBATCH --nodes=1
head_node_ip=$(hostname --ip-address)
srun python train.py
