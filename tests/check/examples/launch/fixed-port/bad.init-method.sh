#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=4
srun python main.py --init_method=tcp://$MASTER_ADDR:3456
