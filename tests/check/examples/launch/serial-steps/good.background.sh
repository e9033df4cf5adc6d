#!/bin/bash
#SBATCH --ntasks=4
srun -n1 python prepare.py
srun -n2 --exact --mem=1G python a.py &
srun -n1 --exact --mem=1G python b.py &
wait
