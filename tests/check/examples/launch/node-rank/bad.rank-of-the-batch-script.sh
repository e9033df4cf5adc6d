#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=1 --gpus-per-node=4 --time=10
bash -c "accelerate launch --num_machines 2 --machine_rank $SLURM_PROCID --num_processes 8 --main_process_ip $M --main_process_port $P train.py"
