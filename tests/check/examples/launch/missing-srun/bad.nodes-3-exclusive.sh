#!/bin/bash
#SBATCH --nodes=3 --exclusive
module load cuda
torchrun --nnodes=1 --nproc_per_node 8 -m training.main --epochs=45
