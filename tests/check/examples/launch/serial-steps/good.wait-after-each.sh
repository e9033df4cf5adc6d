#!/bin/bash
#SBATCH --nodes=4 --ntasks=4
srun --nodes=2 -n 2 python scaling.py 2
wait
srun --nodes=3 -n 3 python scaling.py 3
wait
