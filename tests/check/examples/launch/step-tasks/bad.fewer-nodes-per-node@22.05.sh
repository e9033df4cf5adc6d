#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=1
srun -N1 python serve.py &
wait
