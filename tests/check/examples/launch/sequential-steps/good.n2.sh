#!/bin/bash
#SBATCH -N2
srun -N1 -n1 python a.py &
srun -N1 -n1 python b.py &
wait
