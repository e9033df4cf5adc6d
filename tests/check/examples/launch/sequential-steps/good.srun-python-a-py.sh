#!/bin/bash
#SBATCH -N1 -n4
srun python a.py &
wait
