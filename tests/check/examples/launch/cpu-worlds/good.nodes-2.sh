#!/bin/bash
#SBATCH --nodes=2
accelerate launch --cpu --num_machines 2 --num_processes 4 --mpirun_hostfile hosts train.py
