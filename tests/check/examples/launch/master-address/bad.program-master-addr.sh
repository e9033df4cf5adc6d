#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=4
srun python main.py --master_addr 127.0.0.1
