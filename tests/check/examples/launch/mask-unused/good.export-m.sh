#!/bin/bash
#SBATCH -N1 -n2
M=0xfe,0xfe00
export M
./run.sh
srun ./x
