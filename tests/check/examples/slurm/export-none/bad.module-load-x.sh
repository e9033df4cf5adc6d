#!/bin/bash
#SBATCH --export=NONE
module load x
srun -n4 ./a
