#!/bin/bash
#SBATCH --nodes=2
RUN="accelerate launch --num_machines 2 --main_process_port 6000 \
 --num_processes 8"
srun $RUN train.py
