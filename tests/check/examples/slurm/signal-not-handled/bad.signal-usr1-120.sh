#!/bin/bash
#SBATCH --signal=USR1@120
trap 'scontrol requeue 1' SIGUSR1
srun python train.py &
wait
