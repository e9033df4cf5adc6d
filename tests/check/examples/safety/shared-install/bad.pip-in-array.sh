#!/bin/bash
#SBATCH --array=1-20%4 --ntasks=1 --time=10
module load python
python -m pip install --user -r requirements.txt
python train.py --fold "$SLURM_ARRAY_TASK_ID"
