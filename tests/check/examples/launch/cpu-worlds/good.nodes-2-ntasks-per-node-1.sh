#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=1
export ACCELERATE_USE_CPU=true
srun bash -c 'accelerate launch --multi_gpu --num_machines 2 --num_processes 4 --machine_rank $SLURM_NODEID --main_process_ip $M --main_process_port $P train.py'
