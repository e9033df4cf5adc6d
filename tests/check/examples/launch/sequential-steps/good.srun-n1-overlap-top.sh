#!/bin/bash
#SBATCH -N1 -n4
srun -n1 --overlap top &
srun python a.py
