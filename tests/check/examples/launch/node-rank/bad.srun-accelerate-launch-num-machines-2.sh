#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=1
srun accelerate launch --num_machines 2 --num_processes 8 --main_process_ip $M train.py
