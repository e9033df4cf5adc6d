#!/bin/bash
#SBATCH --nodes=4 --ntasks-per-node=8 --time=10
srun --nodes=4 --ntasks-per-node=1 python stage.py
