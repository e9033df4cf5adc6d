#!/bin/bash
#SBATCH --nodes=2 --ntasks=8 --gpus-per-node=4 --time=10
srun python train.py fit --trainer.devices 4 --trainer.num_nodes 2
