#!/bin/bash
#SBATCH --signal=B:USR1@60 --requeue
module load checkpoint
srun python train.py &
requeue_job save_state TERM
wait
