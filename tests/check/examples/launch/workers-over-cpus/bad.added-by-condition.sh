#!/bin/bash
#SBATCH --ntasks=1 --cpus-per-task=2
CMD="python train.py --num_workers 8"
if [ -n "$CHECKPOINT" ]; then
  CMD="$CMD --resume $CHECKPOINT"
fi
srun $CMD
