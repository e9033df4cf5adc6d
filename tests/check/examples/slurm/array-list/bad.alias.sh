#!/bin/bash
#SBATCH --array=0-4
#SBATCH --output=%A_%a.log
models=(resnet18 resnet50 vit)
i=$SLURM_ARRAY_TASK_ID
model=${models[$i]}
python train.py --model $model
