#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=1 --gpus-per-node=4 --time=1:00:00
MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
bash -c "accelerate launch --num_machines 2 --machine_rank $SLURM_PROCID --num_processes 8 --main_process_ip $MASTER_ADDR --main_process_port $P train.py"
