#!/bin/bash
#SBATCH --nodes=1 --gpus-per-node=4
torchrun --nproc_per_node=2 a.py &
torchrun --nproc_per_node=2 b.py &
wait
