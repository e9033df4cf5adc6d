#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=4
srun python main.py --dist-url tcp://localhost:23456
