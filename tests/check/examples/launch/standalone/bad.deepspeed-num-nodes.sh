#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=1 --gpus-per-node=4 --time=10
srun deepspeed --num_nodes=$SLURM_NNODES --num_gpus=4 --master_addr=$M train.py --deepspeed c.json
