#!/bin/bash
#SBATCH --nodes=2 --ntasks=8
srun --nodes=1 python serve.py &
wait
