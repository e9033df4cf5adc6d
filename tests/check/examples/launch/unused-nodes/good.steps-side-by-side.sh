#!/bin/bash
#SBATCH --nodes=2 --ntasks=2 --gpus-per-node=4
srun -N1 -n1 python a.py &
srun -N1 -n1 python b.py &
wait
