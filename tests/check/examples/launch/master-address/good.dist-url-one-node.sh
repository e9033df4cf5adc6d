#!/bin/bash
#SBATCH --nodes=1 --ntasks-per-node=4
srun python main.py --dist-url tcp://localhost:23456
