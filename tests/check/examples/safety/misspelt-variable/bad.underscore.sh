#!/bin/bash
#SBATCH --time=10
MODEL_PATH=/scratch/me/model
srun python train.py --model ${MODELPATH}
