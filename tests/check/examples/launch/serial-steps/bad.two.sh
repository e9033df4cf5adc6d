#!/bin/bash
#SBATCH --ntasks=2
srun -n1 python a.py
srun -n1 python b.py
wait
