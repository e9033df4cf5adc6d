#!/bin/bash
#SBATCH --signal=B:USR1@120
srun python train.py &
trap 'touch stop' USR1
wait
