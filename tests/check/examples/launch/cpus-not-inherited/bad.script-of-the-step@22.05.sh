#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=1 --cpus-per-task=64
srun bash train_node.sh
