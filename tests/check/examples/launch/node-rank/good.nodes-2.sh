#!/bin/bash
#SBATCH --nodes=2
srun -N1 -n1 -w $A torchrun --nnodes=2 --node_rank=0 --master_addr=$A train.py &
srun -N1 -n1 -w $B torchrun --nnodes=2 --node_rank=1 --master_addr=$A train.py
wait
