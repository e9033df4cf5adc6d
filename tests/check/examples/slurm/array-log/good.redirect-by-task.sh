#!/bin/bash
#SBATCH --array=0-9
#SBATCH --output=%A_%a.log
name=run_$SLURM_ARRAY_TASK_ID
python train.py --seed $SLURM_ARRAY_TASK_ID > $name.txt
if [ $SLURM_ARRAY_TASK_ID -eq 0 ]; then
  python evaluate.py > table.txt
fi
python train.py --seed $SLURM_ARRAY_TASK_ID >> all.txt
