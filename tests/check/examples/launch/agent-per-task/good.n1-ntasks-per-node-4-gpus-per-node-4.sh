#!/bin/bash
#SBATCH -N1 --ntasks-per-node=4 --gpus-per-node=4
srun bash -c 'accelerate launch --num_machines 4 --machine_rank $SLURM_PROCID train.py'
