#!/bin/bash
#SBATCH --time=10
#SBATCH --nodes=2
head_node_ip=$(srun --nodes=1 --ntasks=1 \
  hostname --ip-address)
srun python train.py --address 10.10.0.101
