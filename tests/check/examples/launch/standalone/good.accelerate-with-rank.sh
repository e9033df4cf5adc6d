#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=1 --gpus-per-node=4 --time=10
srun bash -c 'accelerate launch --config_file c.yaml --num_machines 2 --machine_rank $SLURM_NODEID --main_process_ip $M train.py'
